"""What gdb users may load for blocks to read well; nothing needs it.

    (gdb) source /usr/local/share/tkdbg/tkdbg-gdb.py

Blocks are printed with their element type and shape, the middle of long axes
left out, masks by how many lanes are true, and undefined lanes (with `monitor
check undef`) as ?.  `tk stats acc`, `tk show acc`, `tk blame out[3,5]` and the
others of `help tk` are commands of tkdbg's debugger.
"""
import gdb

EDGE = 3  # elements at each end of an axis that is not printed as a whole
WHOLE = 16  # elements of an axis that is
COMMANDS = (
    ('stats', 'Least, largest, mean; NaN, infinite and undefined lanes.'),
    ('show', 'A picture of a block or tensor, a character a lane.'),
    ('blame', 'Which programs wrote an element of a tensor: out[3,5].'),
    ('origin', 'Where a lane of a variable came from: acc[1,2].'),
    ('access', 'What the statement here, or at a line, touches.'),
    ('diff', 'What has changed in a tensor since the launch began.'),
    ('whatis', 'The type of an expression of the language.'),
    ('print', 'The value of an expression of the language: tl.sum(acc).'))


def element_type(kind):
    """The innermost type of an array, and the array's shape."""
    shape = []
    while kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        shape.append(high - low + 1)
        kind = kind.target()
    return kind, shape


def lanes_of(value):
    """What tkdbg knows of the block at an address: its element type, and the
    lanes that are undefined."""
    address = value.address
    if address is None:
        return None, set()
    try:
        text = gdb.execute(f'monitor lanes {int(address):#x}', to_string=True)
    except gdb.error:
        return None, set()
    words = text.splitlines()[-1].split() if text else []
    if not words or words[0] == 'none':
        return None, set()
    return words[0], {int(word) for word in words[1:]}


class BlockPrinter:
    """A block, or a row of one."""

    def __init__(self, value):
        self.value = value
        self.kind, self.shape = element_type(value.type.strip_typedefs())

    def element(self, value, lane):
        return '?' if lane in self.undefined else str(value)

    def axis(self, value, shape, first):
        """The text of value, an array of this shape whose lanes are counted
        from first on."""
        if not shape:
            return self.element(value, first)
        size, stride = shape[0], 1
        for n in shape[1:]:
            stride *= n
        at = list(range(size))
        if size > WHOLE:
            at[EDGE:-EDGE] = [None]
        parts = ['...' if i is None else
                 self.axis(value[i], shape[1:], first + i * stride)
                 for i in at]
        between = ' ' if len(shape) == 1 else '\n '
        return '[' + between.join(parts) + ']'

    def true_lanes(self, value, shape):
        if not shape:
            return int(bool(value))
        return sum(self.true_lanes(value[i], shape[1:])
                   for i in range(shape[0]))

    def to_string(self):
        name, self.undefined = lanes_of(self.value)
        if not name:
            name = 'pointer' if self.kind.code == gdb.TYPE_CODE_PTR \
                else str(self.kind)
        text = f'{name}[{", ".join(map(str, self.shape))}]'
        if self.kind.strip_typedefs().code == gdb.TYPE_CODE_BOOL:
            lanes = 1
            for n in self.shape:
                lanes *= n
            true = self.true_lanes(self.value, self.shape)
            text += f', {true} of {lanes} true'
        return f'{text} = {self.axis(self.value, self.shape, 0)}'


def block_printer(value):
    """gdb asks this for every value that it prints."""
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_ARRAY:
        return None
    element = element_type(kind)[0]
    return None if str(element) == 'char' else BlockPrinter(value)


def take_symbols(file):
    """Symbols that tkdbg's server has handed out."""
    if '/tkdbg/' in file.filename and block_printer not in file.pretty_printers:
        file.pretty_printers.append(block_printer)


class Tk(gdb.Command):
    """Commands of tkdbg's debugger: 'tk stats acc', 'tk show acc'."""

    def __init__(self):
        super().__init__('tk', gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class TkCommand(gdb.Command):
    """One of them; gdb shows __doc__ as its help."""

    def __init__(self, name, doc):
        self.__doc__ = doc
        self.name = name
        super().__init__(f'tk {name}', gdb.COMMAND_DATA,
                         gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        gdb.execute(f'monitor {self.name} {argument}')


Tk()
for command in COMMANDS:
    TkCommand(*command)
for known in gdb.objfiles():
    take_symbols(known)
gdb.events.new_objfile.connect(lambda event: take_symbols(event.new_objfile))
