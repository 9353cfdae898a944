"""Beginning, breakpoints, moves and ends."""
import adapter
import client
from adapter import ADD, KERNELS, finish, initialized, leave, line, stopped


def refused(call, text):
    try:
        call()
    except client.Refused as e:
        assert text in str(e), str(e)
        return
    raise AssertionError(f'not refused: {text}')


def test_a_session():
    c, s = stopped(ADD, line('pair = '))
    assert s['reason'] == 'breakpoint' and s['frame']['name'] == 'add'
    assert s['frame']['line'] == line('pair = ')
    assert c.scope(s['frame'], 'Locals')['total']['value'].startswith(
        'fp32[8] [0. 3. 6.')
    finish(c)


def test_capabilities():
    c = initialized()
    assert c.capabilities['supportsStepBack']
    assert c.capabilities['supportsDataBreakpoints']
    filters = {f['filter'] for f in
               c.capabilities['exceptionBreakpointFilters']}
    assert {'undef', 'race', 'bounds'} <= filters
    c.request('disconnect')
    c.closes()


def test_stop_on_entry():
    c, s = stopped(ADD)
    assert s['reason'] == 'entry'
    assert s['frame']['line'] == line('pid = tl.program_id(0)')
    finish(c)


def test_runs_without_a_stop():
    c = initialized()
    c.begin(ADD)
    leave(c)


def test_breakpoint_is_verified_when_a_kernel_has_it():
    c = initialized()
    at = line('def add(')
    found = c.begin(dict(ADD, stopOnEntry=True), [(KERNELS, [at, 3])])[0]
    assert [b['verified'] for b in found] == [False, False]
    assert found[0]['reason'] == 'pending'
    told = c.event('breakpoint')
    assert told['breakpoint']['verified']
    assert told['breakpoint']['line'] == line('pid = tl.program_id(0)')
    s = c.stopped()
    assert s['reason'] == 'entry'
    finish(c)


def test_condition():
    c, s = stopped(ADD, {'line': line('pair = '), 'condition': 'pid == 2'})
    assert s['threadId'] == 3
    finish(c)


def test_condition_that_has_no_value():
    c = initialized()
    c.begin(dict(ADD, stopOnEntry=True))
    c.stopped()
    found = c.set_breakpoints(KERNELS, [{'line': line('pair = '),
                                         'condition': 'nobody > 1'}])
    assert not found[0]['verified'] and 'nobody' in found[0]['message']
    finish(c)


def test_hit_conditions():
    for text, programs in (('2', [1]), ('== 3', [2]), ('> 2', [2, 3]),
                           ('%2', [1, 3]), ('<=2', [0, 1])):
        c, s = stopped(ADD, {'line': line('pair = '), 'hitCondition': text})
        for i, program in enumerate(programs):
            assert s['threadId'] == program + 1, (text, s)
            if i + 1 < len(programs):
                s = c.go('continue')
        c.request('continue', threadId=c.thread)
        leave(c)


def test_hit_condition_that_is_none():
    c = initialized()
    found = c.begin(ADD, [(KERNELS, [{'line': line('pair = '),
                                      'hitCondition': 'often'}])])[0]
    assert not found[0]['verified'] and 'hit condition' in found[0]['message']
    leave(c)


def test_logpoint():
    c = initialized()
    c.begin(ADD, [(KERNELS, [{'line': line('pair = '),
                              'logMessage': 'p {pid}: {tl.sum(total)} {{}}'}])])
    leave(c)
    assert c.output['console'] == ('p 0: 84.0 {}\np 1: 276.0 {}\n'
                                   'p 2: 468.0 {}\np 3: 477.0 {}\n')


def test_function_breakpoint():
    c = initialized()

    def more():
        found = c.request('setFunctionBreakpoints', breakpoints=[
            {'name': 'scale', 'condition': 's == 2'}, {}])['breakpoints']
        assert [b['verified'] for b in found] == [False, False]
        assert 'name' in found[1]['message']
    c.begin(ADD, then=more)
    s = c.stopped()
    assert s['reason'] == 'function breakpoint'
    assert s['frame']['name'] == 'scale'
    c.request('setFunctionBreakpoints', breakpoints=[])
    finish(c)


def test_steps():
    c, s = stopped(ADD, line('total += scale'))
    c.set_breakpoints(KERNELS, [])
    assert c.go('stepIn')['frame']['name'] == 'scale'
    s = c.go('stepOut')
    assert s['frame']['name'] == 'add, trip 1'
    assert s['description'] == 'Returned'
    returned = c.scope(s['frame'], 'Returned')
    assert returned['value']['value'].startswith('fp32[8]'), returned
    s = c.go('next')
    assert s['frame']['name'] == 'add, trip 2'
    finish(c)


def test_step_by_operation():
    c, s = stopped(ADD, line('offs = pid * B'))
    before = s['frame']
    s = c.go('next', granularity='instruction')
    assert s['frame']['line'] == before['line']
    finish(c)


def test_back():
    c, s = stopped(ADD, line('pair = '))
    s = c.go('stepBack')
    assert s['frame']['line'] == line('total += scale')
    s = c.go('reverseContinue')
    assert s['description'] == 'No history before this'
    assert s['frame']['line'] == line('pid = tl.program_id(0)')
    s = c.go('continue')
    assert s['frame']['line'] == line('pair = ')
    finish(c)


def test_what_can_be_done_is_said_in_terms_of_editors():
    c, s = stopped(ADD, line('pair = '))
    c.evaluate('set history 0', s['frame'], context='repl')
    refused(lambda: c.request('stepBack', threadId=1),
            'Nothing is recorded: to record from the next launch on, give the '
            'history memory in the Debug Console.')
    finish(c)


def test_goto():
    c, s = stopped(ADD, line('total += scale'))
    assert c.request('gotoTargets', source={'path': KERNELS},
                     line=line('pair = ')) == {'targets': []}
    c, s = stopped(ADD, line('mask = offs'))
    targets = c.request('gotoTargets', source={'path': KERNELS},
                        line=line('pair = '))['targets']
    assert [t['line'] for t in targets] == [line('pair = ')]
    s = c.go('goto', targetId=targets[0]['id'])
    assert s['reason'] == 'goto', s
    assert s['frame']['line'] == line('pair = ')
    refused(lambda: c.request('goto', threadId=1, targetId=99), 'targetId 99')
    c.request('terminate')
    leave(c)


def test_threads():
    c, s = stopped(dict(ADD, grid=1000), line('pair = '))
    threads = c.request('threads')['threads']
    assert len(threads) == 256
    assert threads[0] == {'id': 1, 'name': 'pid(0, 0, 0)'}
    assert threads[1]['name'] == 'pid(1, 0, 0), not begun'
    assert c.request('stackTrace', threadId=2) == {
        'stackFrames': [], 'totalFrames': 0}
    refused(lambda: c.request('stackTrace', threadId=5000), 'threadId 5000')
    finish(c)


def test_step_of_another_program():
    c, s = stopped(ADD, line('pair = '))
    c.request('setBreakpoints', source={'path': KERNELS}, breakpoints=[])
    s = c.go('next', thread=3)
    assert s['threadId'] == 3, s
    finish(c)


def test_pages_of_the_stack():
    c, s = stopped(ADD, line('w = v * s'))
    frames = c.request('stackTrace', threadId=1, startFrame=1, levels=1)
    assert frames['totalFrames'] == 2
    assert [f['name'] for f in frames['stackFrames']] == ['add, trip 0']
    finish(c)


def test_pause():
    launch = {'program': KERNELS, 'kernel': 'slow', 'grid': 1,
              'kernelArgs': {'x': 'i32[1]:zeros', 'n': 10**9}}
    c = initialized(supportsProgressReporting=True)
    c.begin(launch)
    started = c.event('progressStart')
    assert started['cancellable'] and started['percentage'] == 0
    c.event('progressUpdate')
    c.request('pause', threadId=1)
    s = c.stopped()
    assert s['reason'] == 'pause', s
    assert s['frame']['name'].startswith('slow')
    c.request('continue', threadId=1)
    progress = c.event('progressStart')
    c.request('cancel', progressId=progress['progressId'])
    assert c.stopped()['reason'] == 'pause'
    c.request('terminate')
    leave(c)


def test_requests_while_it_runs():
    launch = {'program': KERNELS, 'kernel': 'slow', 'grid': 1,
              'kernelArgs': {'x': 'i32[1]:zeros', 'n': 10**9}}
    c = initialized()
    c.begin(launch)
    refused(lambda: c.request('stackTrace', threadId=1), 'no program is')
    refused(lambda: c.evaluate('total'), 'no program is stopped')
    assert c.request('threads')['threads'][0]['name'] == 'pid(0, 0, 0)'
    found = c.set_breakpoints(KERNELS, [line('total += i % 7')])
    assert found[0]['verified']
    s = c.stopped()
    assert s['frame']['line'] == line('total += i % 7')
    c.request('terminate')
    leave(c)


def test_filters_change_while_a_loop_runs():
    c = initialized()
    c.begin({'program': KERNELS, 'kernel': 'slow', 'grid': 1,
             'kernelArgs': {'x': 'i32[1]:zeros', 'n': 10**9}})
    c.request('setExceptionBreakpoints', filters=['overflow'])
    refused(lambda: c.evaluate('set check all', context='repl'), 'no program')
    c.request('pause', threadId=1)
    s = c.stopped()
    assert s['reason'] == 'pause', s
    got = c.evaluate('info checks', context='repl')['result']
    assert 'overflow' in got, got
    c.request('terminate')
    leave(c)


def test_a_step_goes_on_behind_a_request():
    launch = {'program': KERNELS, 'kernel': 'slow', 'grid': 1,
              'kernelArgs': {'x': 'i32[1]:zeros', 'n': 3000000}}
    c, s = stopped(launch)
    c.request('stepOut', threadId=1)
    for _ in range(5):
        c.request('threads')
    leave(c)


def test_disconnect_ends():
    c, s = stopped(ADD)
    c.request('disconnect')
    c.closes()
    assert c.process.wait(20) == 0


def test_terminate():
    c, s = stopped(ADD)
    c.request('terminate')
    refused(lambda: c.request('launch', **ADD), 'the run is about to end')
    leave(c)


def test_finding_ends_the_program():
    c = initialized()
    c.begin({'program': KERNELS, 'kernel': 'beyond', 'grid': 2,
             'kernelArgs': {'x': 'f32[12]:arange', 'n': 12, 'B': 8}})
    s = c.stopped()
    assert s['reason'] == 'exception' and s['threadId'] == 2
    assert 'past the end of x' in s['description']
    info = c.request('exceptionInfo', threadId=2)
    assert info['exceptionId'] == 'out-of-bounds'
    assert info['breakMode'] == 'unhandled'
    assert 'add a mask' in info['details']['message']
    assert 'past the end of x' in c.output['stderr']
    finish(c, 1)
    assert c.output['stderr'].count('past the end of x') == 1


def test_assertion():
    c = initialized()
    c.begin({'program': KERNELS, 'kernel': 'claims', 'grid': 1,
             'kernelArgs': {'x': 'i32[1]:zeros', 'n': 7}})
    s = c.stopped()
    assert s['reason'] == 'exception' and 'n is small' in s['description']
    finish(c, 1)


UNDEFINED = {'program': KERNELS, 'kernel': 'undefined', 'grid': 1,
             'kernelArgs': {'x': 'f32[8]:arange', 'y': 'f32[1]:zeros', 'n': 5,
                            'B': 8}}


def test_detector_as_a_filter():
    c = initialized()
    c.begin(UNDEFINED, then=lambda: c.request('setExceptionBreakpoints',
                                              filters=['undef']))
    s = c.stopped()
    assert s['reason'] == 'exception', s
    assert s['frame']['line'] == line('tl.store(y, s)')
    v = c.scope(s['frame'], 'Locals')['v']
    assert v['value'] == 'fp32[8] [0. 1. 2. 3. 4. ? ? ?]', v
    info = c.request('exceptionInfo', threadId=1)
    assert info['exceptionId'] == 'undef' and info['breakMode'] == 'always'
    finish(c, 1)


def test_detector_that_only_reports():
    c = initialized()
    c.begin(dict(UNDEFINED, check=True),
            then=lambda: c.request('setExceptionBreakpoints',
                                   filters=['race']))
    leave(c, 1)
    assert 'undef' in c.output['stderr']


def test_check_of_some_detectors():
    c = initialized()
    c.begin(dict(UNDEFINED, check=['race', 'nan']))
    leave(c)


def test_filters_change_while_it_stands():
    c, s = stopped(UNDEFINED, line('s = tl.sum(v)'))
    c.request('setExceptionBreakpoints', filters=[],
              filterOptions=[{'filterId': 'undef'}])
    s = c.go('continue')
    assert s['reason'] == 'exception'
    finish(c, 1)


def test_filters_change_while_it_runs():
    c = initialized(supportsProgressReporting=True)
    c.begin({'program': KERNELS, 'kernel': 'waits',
             'kernelArgs': {'x': 'f32[2]:arange', 'n': 10**9}})
    c.event('progressStart')
    c.request('setExceptionBreakpoints', filters=['undef'])
    s = c.stopped()
    assert s['reason'] == 'exception' and 'undef' in s['description'], s
    assert s['frame']['name'].startswith('waits'), s
    c.request('terminate')
    leave(c, 1)


def test_watchpoint():
    c, s = stopped(ADD, line('total = tl.zeros'))
    s = c.go('next')
    scopes = c.request('scopes', frameId=s['frame']['id'])['scopes']
    local = [x for x in scopes if x['name'] == 'Locals'][0]
    info = c.request('dataBreakpointInfo', name='total',
                     variablesReference=local['variablesReference'])
    assert info['dataId'] == 'total' and 'write' in info['accessTypes']
    found = c.request('setDataBreakpoints', breakpoints=[
        {'dataId': info['dataId']}])['breakpoints']
    assert found[0]['verified']
    s = c.go('continue')
    assert s['reason'] == 'data breakpoint', s
    assert s['hitBreakpointIds'] == [found[0]['id']]
    assert s['description'].startswith('total was fp32[8] [0. 0.'), s
    c.request('setDataBreakpoints', breakpoints=[])
    finish(c)


def test_watchpoint_of_an_element():
    c, s = stopped(ADD)
    info = c.request('dataBreakpointInfo', name='y[9]')
    found = c.request('setDataBreakpoints', breakpoints=[
        {'dataId': info['dataId'], 'accessType': 'write'}])['breakpoints']
    assert found[0]['verified'], found
    s = c.go('continue')
    assert s['reason'] == 'data breakpoint' and s['threadId'] == 2, s
    none = c.request('dataBreakpointInfo', name='nobody')
    assert none['dataId'] is None
    c.request('setDataBreakpoints', breakpoints=[])
    finish(c)


def test_two_watchpoints_at_one_statement():
    c, s = stopped(ADD, line('total = tl.zeros'))
    c.go('next')
    ids = [c.request('dataBreakpointInfo', name=name)['dataId']
           for name in ('total[1]', 'total[3]')]
    found = c.request('setDataBreakpoints', breakpoints=[
        {'dataId': x} for x in ids])['breakpoints']
    s = c.go('continue')
    assert s['hitBreakpointIds'] == [x['id'] for x in found], s
    assert s['description'] == \
        'total[1] was 0.0, is 1.0; total[3] was 0.0, is 3.0', s
    c.request('setDataBreakpoints', breakpoints=[])
    finish(c)


def test_what_never_changes_is_not_watched():
    c, s = stopped(ADD)
    constant = c.request('dataBreakpointInfo', name='B')
    assert constant == {'dataId': None, 'description': constant['description']}
    assert constant['description'].startswith('B is a compile-time value')
    refused_point, = c.request('setDataBreakpoints', breakpoints=[
        {'dataId': 'B'}])['breakpoints']
    assert not refused_point['verified']
    assert 'never changes' in refused_point['message'], refused_point
    finish(c)


def test_watchpoint_of_a_block_pointer():
    c, s = stopped({'program': KERNELS, 'kernel': 'walks',
                    'kernelArgs': {'x': 'f32[16]:arange', 'y': 'f32[8]'},
                    'options': ['--triton-version=3.8']},
                   line('head = '))
    found = c.request('setDataBreakpoints', breakpoints=[
        {'dataId': c.request('dataBreakpointInfo', name='tile')['dataId'],
         'accessType': access} for access in ('write', 'read')])['breakpoints']
    assert all(x['verified'] for x in found), found
    s = c.go('continue')
    assert s['reason'] == 'data breakpoint', s
    assert s['frame']['line'] == line('tile = tl.advance'), s
    assert s['hitBreakpointIds'] == [found[1]['id']], s
    s = c.go('continue')
    assert found[0]['id'] in s['hitBreakpointIds'], s
    assert s['description'] == (
        'tile.offsets[0] was 0, is 8; tile is pointer<fp32> &x, read'), s
    finish(c)


def test_places_of_breakpoints():
    c, s = stopped(ADD)
    found = c.request('breakpointLocations', source={'path': KERNELS},
                      line=line('def scale'), endLine=line('return w'))
    assert [x['line'] for x in found['breakpoints']] == [line('w = v * s'),
                                                         line('return w')]
    finish(c)
