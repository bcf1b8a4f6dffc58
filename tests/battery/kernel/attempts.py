"""Attempts to get out of a sandbox, as Python that runs inside it.

Each ends with an exception when it is stopped, and prints a line when it got what it wanted. The
places and processes it aims at are the test's own.
"""

PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, struct, subprocess, sys, time
T = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
def call(x86, arm, *args):
    number = x86 if X86 else arm
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = libc.syscall(ctypes.c_long(number), *given)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def got(what=""):
    print("GOT", what)
INFO = ctypes.create_string_buffer(struct.pack("=iii", 0, 0, -1), 128)
def each_thread(attempt):
    parent = os.getppid()
    for thread in os.listdir(f"/proc/{parent}/task"):
        for number in (0, signal.SIGSTOP, signal.SIGKILL):
            try:
                attempt(parent, int(thread), number)
            except OSError:
                continue
            got(thread)
    raise SystemExit("no thread of the parent was reached")
def signal_by(reading, writing, parent, number):
    fcntl.fcntl(reading, 10, number)
    fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writing, b"x")
    time.sleep(0.01)
    if open(f"/proc/{parent}/stat").read().rpartition(")")[2].split()[0] not in "tT":
        raise OSError("it goes on")
"""

FILES = {
    "read": "got(open(T['secret']).read())",
    "read-dir": "got(os.listdir(T['outside']))",
    "read-through-link": "os.symlink(T['secret'], 'l'); got(open('l').read())",
    "read-through-parent": "got(open('../outside/secret').read())",
    "read-through-root": "got(open('/proc/self/root' + T['secret']).read())",
    "read-by-cwd-of-another": "got(open(f\"/proc/{T['victim']}/cwd/secret\").read())",
    "read-by-root-of-another": "got(open(f\"/proc/{T['victim']}/root{T['secret']}\").read())",
    "read-by-file-of-another": "got(open(f\"/proc/{T['victim']}/fd/{T['victim_file']}\").read())",
    "read-home": "got(os.listdir(T['real_home']))",
    "read-shadow": "got(open('/etc/shadow').read(1))",
    "write": "open(T['outside'] + '/new', 'w').write('x'); got()",
    "append": "open(T['secret'], 'a').write('x'); got()",
    "truncate": "os.truncate(T['secret'], 0); got()",
    "overwrite-through-link": "os.symlink(T['secret'], 'm'); open('m', 'w').write('x'); got()",
    "unlink": "os.unlink(T['secret']); got()",
    "make-dir": "os.mkdir(T['outside'] + '/d'); got()",
    "rename-out": "open('a', 'w').close(); os.rename('a', T['outside'] + '/a'); got()",
    "rename-in": "os.rename(T['secret'], 'stolen'); got()",
    "hard-link-in": "os.link(T['secret'], 'h'); got(open('h').read())",
    "hard-link-out": "open('b', 'w').close(); os.link('b', T['outside'] + '/b'); got()",
    "make-device": "os.mknod('dev', 0o660 | 0o020000, os.makedev(1, 1)); got()",
    "open-memory": "got(os.open('/dev/mem', os.O_RDONLY))",
    "open-disk": "got([os.open('/dev/' + n, os.O_RDONLY) for n in ('sda', 'vda', 'nvme0n1')\n"
    "      if os.path.exists('/dev/' + n)] or os.open('/dev/vda', os.O_RDONLY))",
    "kernel-setting": "open('/proc/sys/kernel/hostname', 'w').write('x'); got()",
    "core-pattern": "open('/proc/sys/kernel/core_pattern', 'w').write('|/x'); got()",
    "sysrq": "open('/proc/sysrq-trigger', 'w'); got()",
    "cgroup": "os.mkdir('/sys/fs/cgroup/holdfast-attempt'); got()",
    "set-user-bit": "open('s', 'w').close(); os.chmod('s', 0o4755); got()",
    "inherited-files": "extra = [n for n in os.listdir('/proc/self/fd') if int(n) > 3]\n"
    "assert extra, 'none'; got(extra)",
}

PROCESSES = {
    "signal": "os.kill(T['victim'], 0); got()",
    "signal-parent": "os.kill(os.getppid(), 0); got()",
    "signal-by-handle": "h = os.pidfd_open(T['victim']); signal.pidfd_send_signal(h, 0); got()",
    "trace": "call(101, 117, 16, T['victim'], 0, 0); got()",
    "trace-parent": "call(101, 117, 16, os.getppid(), 0, 0); got()",
    "memory-of-another": "open(f\"/proc/{T['victim']}/mem\", 'rb'); got()",
    "memory-of-parent": "open(f'/proc/{os.getppid()}/mem', 'rb'); got()",
    "environment-of-another": "got(open(f\"/proc/{T['victim']}/environ\").read()[:9])",
    "environment-of-parent": "got(open(f'/proc/{os.getppid()}/environ').read()[:9])",
    "read-another": "b = ctypes.create_string_buffer(64)\n"
    "got(call(310, 270, T['victim'], b, 0, b, 0, 0))",
    "file-of-another": "h = os.pidfd_open(os.getppid()); got(call(438, 438, h, 0, 0))",
    "limit-another": "resource.prlimit(T['victim'], resource.RLIMIT_CPU, (1, 1)); got()",
    "limit-parent": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1)); got()",
    "slow-parent-down": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19); got()",
    "bind-parent-to-cpu": "os.sched_setaffinity(os.getppid(), {0}); got()",
    "signal-threads": "each_thread(lambda parent, thread, number: os.kill(thread, number))",
    "signal-single-threads": "each_thread(lambda parent, thread, n: call(200, 130, thread, n))",
    "signal-threads-of-group": "each_thread(lambda p, thread, n: call(234, 131, p, thread, n))",
    "queue-signals": "each_thread(lambda p, thread, n: call(129, 138, thread, n, INFO))",
    "queue-signals-of-group": "each_thread(lambda p, thread, n:\n"
    "    call(297, 240, p, thread, n, INFO))",
    "signal-threads-by-handle": "each_thread(lambda p, thread, n:\n"
    "    call(424, 424, call(434, 434, thread, os.O_EXCL), n, 0, 0))",
    "signal-threads-by-directory": "each_thread(lambda p, thread, n:\n"
    "    call(424, 424, os.open(f'/proc/{thread}', os.O_RDONLY), n, 0, 0))",
    "own-a-pipe": "def own(p, thread, n):\n"
    "    r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, thread); signal_by(r, w, p, n)\n"
    "each_thread(own)",
    "own-a-pipe-by-thread": "def own(p, thread, n):\n"
    "    r, w = os.pipe(); fcntl.fcntl(r, 15, struct.pack('=ii', 0, thread))\n"
    "    signal_by(r, w, p, n)\n"
    "each_thread(own)",
    "own-a-socket": "def own(p, thread, n):\n"
    "    r, w = socket.socketpair(); fcntl.ioctl(r, 0x8901, struct.pack('=i', thread))\n"
    "    signal_by(r.fileno(), w.fileno(), p, n)\n"
    "each_thread(own)",
    "environment-of-threads": "each_thread(lambda p, thread, n:\n"
    "    open(f'/proc/{p}/task/{thread}/environ').read())",
    "memory-of-threads": "each_thread(lambda p, thread, n:\n"
    "    open(f'/proc/{p}/task/{thread}/mem', 'rb'))",
    "maps-of-threads": "each_thread(lambda p, thread, n:\n"
    "    open(f'/proc/{p}/task/{thread}/maps').read())",
    "files-of-threads": "each_thread(lambda p, thread, n:\n"
    "    os.readlink(f'/proc/{p}/task/{thread}/fd/0'))",
    "trace-threads": "each_thread(lambda p, thread, n: call(101, 117, 16, thread, 0, 0))",
    "become-root-by-program": "s = subprocess.run(['su', '-c', 'id -u'],\n"
    "    stdin=subprocess.DEVNULL, capture_output=True, text=True)\n"
    "assert s.returncode == 0; got(s.stdout)",
    "gain-by-exec": "status = open('/proc/self/status').read()\n"
    "assert 'NoNewPrivs:\\t1' not in status; got()",
    "capabilities": "status = open('/proc/self/status').read()\n"
    "assert 'CapEff:\\t0000000000000000' not in status; got(status)",
    "bounding-set": "status = open('/proc/self/status').read(); uid = os.getuid()\n"
    "assert uid == 0 and 'CapBnd:\\t0000000000000000' not in status; got(status)",
}

KERNEL = {
    "new-user-namespace": "call(272, 97, 0x10000000); got()",
    "new-mount-namespace": "call(272, 97, 0x00020000); got()",
    "clone-namespace": "got(call(56, 220, 0x10000011, 0, 0, 0, 0))",
    "clone3": "got(call(435, 435, ctypes.create_string_buffer(88), 88))",
    "join-namespace": "f = os.open(f\"/proc/{T['victim']}/ns/mnt\", os.O_RDONLY)\n"
    "call(308, 268, f, 0); got()",
    "mount": "call(165, 40, b'tmpfs', b'.', b'tmpfs', 0, 0); got()",
    "bind": "call(165, 40, b'/', b'.', 0, 4096, 0); got()",
    "unmount": "call(166, 39, b'/proc', 2); got()",
    "open-tree": "got(call(428, 428, -100, b'/', 1))",
    "chroot": "os.chroot('.'); got()",
    "io-uring": "got(call(425, 425, 1, ctypes.create_string_buffer(120)))",
    "bpf": "got(call(321, 280, 0, ctypes.create_string_buffer(128), 128))",
    "keys": "got(call(250, 219, 0, -3, 0))",
    "perf": "got(call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0))",
    "user-faults": "got(call(323, 282, 1))",
    "open-by-handle": "got(call(304, 265, -100, ctypes.create_string_buffer(136), 0))",
    "load-module": "call(313, 273, 0, b'', 0); got()",
    "set-clock": "time.clock_settime(time.CLOCK_REALTIME, time.time()); got()",
    "set-host-name": "socket.sethostname('x'); got()",
    "kernel-log": "got(call(103, 116, 3, ctypes.create_string_buffer(64), 64))",
    "type-into-terminal": "got(fcntl.ioctl(0, 0x5412, b'x'))",
}

NETWORK = {
    "connect": "socket.create_connection(('127.0.0.1', T['port']), 2); got()",
    "connect-outside": "socket.create_connection(('192.0.2.1', 80), 2); got()",
    "datagram": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "s.sendto(b'escaped', ('127.0.0.1', T['udp_port'])); time.sleep(0.05)\n"
    "raise SystemExit('the test looks whether it arrived')",
    "names": "got(socket.getaddrinfo('example.com', 80))",
    "fast-open": "s = socket.socket(); s.sendto(b'x', 0x20000000, ('127.0.0.1', T['port'])); got()",
    "raw": "got(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))",
    "packet": "got(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))",
    "netlink": "got(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))",
    "path-socket": "s = socket.socket(socket.AF_UNIX); s.connect(T['outside'] + '/socket'); got()",
    "abstract-socket": "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + T['abstract']); got()",
    "virtual-machines": "got(socket.socket(40, socket.SOCK_STREAM))",
}

OF_THE_SAME_USER = {
    "change-mode": "os.chmod(T['outside'] + '/mode', 0o777); got()",
    "change-times": "os.utime(T['outside'] + '/mode'); got()",
    "shared-memory": "got(open('/dev/shm/' + T['shared']).read())",
    "system-v-memory": "got(call(29, 194, T['key'], 0, 0))",
    "other-processes": "assert len([n for n in os.listdir('/proc') if n.isdigit()]) > 12; got()",
    "words-of-another": "got(open(f\"/proc/{T['victim']}/cmdline\").read())",
}
"""What Landlock alone does not stop: the limits of a sandbox without namespaces."""

PROTECTED = {
    "write-hook": "open('.git/hooks/pre-commit', 'w').write('x'); got()",
    "write-config": "open('.git/config', 'a').write('x'); got()",
    "replace-config": "open('c', 'w').close(); os.rename('c', '.git/config'); got()",
    "move-protected-away": "os.rename('.git', '.git2'); got()",
}
"""What a mount keeps, and Landlock cannot; without namespaces such writes are asked about."""

STOPPED = {**FILES, **PROCESSES, **KERNEL, **NETWORK}
NEEDS_NAMESPACES = {**OF_THE_SAME_USER, **PROTECTED}
