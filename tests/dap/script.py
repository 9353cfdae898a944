"""Host code that launches kernels of kernels.py, as sessions of tests/dap want
it: script.py [SECONDS before] [LAUNCHES]."""
import sys
import time

import numpy as np
import triton

import kernels


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    x = np.arange(16, dtype=np.float32)
    y = np.zeros(16, dtype=np.float32)
    print('begins', *sys.argv[1:])
    time.sleep(seconds)
    for i in range(launches):
        kernels.add[(2,)](x, y, 16, B=8)
        print('launched', i + 1)
    print('sum', float(y.sum()))
    print('é' * 3, file=sys.stderr)


main()
