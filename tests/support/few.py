"""A plugin of pytest: --few N keeps N cases of each test function, spread over
all of its parameters."""
import collections


def pytest_addoption(parser):
    parser.addoption('--few', type=int, default=0, metavar='N')


def pytest_collection_modifyitems(config, items):
    most = config.getoption('few')
    if not most:
        return
    cases: dict = collections.defaultdict(list)
    for item in items:
        cases[getattr(item, 'originalname', item.name), item.path].append(item)
    kept: set = set()
    for of_one in cases.values():
        step = max(1, len(of_one) / most)
        kept |= {of_one[int(i * step)] for i in range(min(most, len(of_one)))}
    config.hook.pytest_deselected(items=[i for i in items if i not in kept])
    items[:] = [i for i in items if i in kept]
