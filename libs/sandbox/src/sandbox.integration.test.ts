/**
 * A table of attempts of a program in the sandbox, and their outcomes.
 *
 * | attempt                                                     | outcome                                        |
 * | ----------------------------------------------------------- | ---------------------------------------------- |
 * | read a file of its user that is not bound                   | no such file                                   |
 * | read the settings and accounts of the machine               | no such file                                   |
 * | write to the tools, the libraries, another folder           | refused                                        |
 * | write to its folder                                         | there afterwards                               |
 * | read the environment of whoever started it                  | only what was given                            |
 * | see or signal other processes of its user                   | not there                                      |
 * | make a user namespace, gain privileges, capabilities        | refused, none                                  |
 * | more processes, larger files, more in `/tmp` than allowed   | refused                                        |
 * | more memory of a process, more open files than allowed      | refused                                        |
 * | interfaces of the kernel: bpf, io_uring, keys, performance  | refused                                        |
 * | a socket of another family than IP, netlink and Unix        | refused                                        |
 * | outlive its first process, its time                         | killed                                         |
 * | reach a server on the loopback interface of the machine     | refused, directly and through the proxy        |
 * | reach a server that was given                               | answered, at its address                       |
 * | reach an address of the internet's metadata services        | refused                                        |
 * | reach a range that was given                                | answered through the proxy                     |
 * | reach what an allow-list does not name                      | refused by the proxy                           |
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  isUsable,
  openEgress,
  probeSandbox,
  type SandboxOptions,
  SOURCES,
  toSandboxCommand,
  whyUnusable,
  writeSystemCallFilter,
} from './sandbox.ts';

const run = promisify(execFile);
const INSIDE = fileURLToPath(new URL('./testdata/inside.ts', import.meta.url));
/** A user of its own where this process is root, like that of the built-in runner. */
const USER = process.getuid?.() === 0 ? { uid: 210_000_001, gid: 210_000_001 } : {};

const openFolder = async () => {
  const folder = await temporaryDirectory();
  await chmod(folder.path, 0o711);
  const own = join(folder.path, 'own');
  await mkdir(own);
  if (USER.uid !== undefined) await chown(own, USER.uid, USER.gid);
  const options: SandboxOptions = {
    readOnly: SOURCES,
    writable: [own],
    workingFolder: own,
    environment: { PATH: '/usr/bin:/bin', HOME: own },
    seconds: 60,
    processes: 64,
    temporaryBytes: 1024 * 1024,
    fileBytes: 1024 * 1024,
    processBytes: 1024 * 1024 * 1024,
    systemCallFilter: await writeSystemCallFilter(folder.path),
  };
  /** The output of a script in the sandbox, with both streams. */
  const execute = async (script: string, given: Partial<SandboxOptions> = {}, way = '') => {
    const command = [process.execPath, INSIDE, way, script];
    const [program = '', ...args] = toSandboxCommand({ ...options, ...given }, command);
    const env = { PATH: process.env['PATH'] };
    const said = await run(program, args, { ...USER, env, cwd: '/' }).catch((error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      return { stdout, stderr };
    });
    return (said.stdout + said.stderr).trim();
  };
  return {
    ...folder,
    root: folder.path,
    own,
    options,
    execute,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
};

let folder: Awaited<ReturnType<typeof openFolder>>;
beforeAll(async () => {
  folder = await openFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

test('a machine without a folder for temporary files is a finding, and ends nobody', async () => {
  vi.stubEnv('TMPDIR', '/absent');
  onTestFinished(() => void vi.unstubAllEnvs());
  const [whole] = await probeSandbox(USER);
  expect(whole?.fault).toContain('absent');
});

test('this machine allows a sandbox, and a fault is named with its part', async () => {
  const findings = await probeSandbox(USER);
  expect(whyUnusable(findings.filter(({ fault }) => fault !== undefined))).toBe('');
  expect(isUsable(findings)).toBe(true);
  expect(
    whyUnusable([
      { part: 'sandbox', fault: 'it failed' },
      { part: 'bubblewrap', fault: undefined },
      { part: 'user namespace', fault: 'not permitted' },
    ]),
  ).toBe('user namespace: not permitted');
});

describe('a program in the sandbox', () => {
  test('reads nothing but what is bound', async () => {
    const secret = join(folder.root, 'secret');
    await writeFile(secret, 'secret');
    if (USER.uid !== undefined) await chown(secret, USER.uid, USER.gid);
    const said = await folder.execute(
      `for f in ${secret} /etc/passwd /etc/shadow /etc/hosts /root /home /var /run /sys; do [ -e $f ] && echo "found $f"; done; [ -r ${INSIDE} ] && echo sources`,
    );
    expect(said).toBe('sources');
  });

  test('writes only to its folder', async () => {
    const said = await folder.execute(
      `for f in /usr/x /usr/bin/x ${join(INSIDE, '../x')} ${folder.root}/x /proc/sys/kernel/core_pattern; do ( : > $f ) 2>/dev/null && echo "written $f"; done; echo mine > mine; cat mine`,
    );
    expect(said.replace(`written ${folder.root}/x`, '').trim()).toBe('mine');
    expect(await readFile(join(folder.own, 'mine'), 'utf8')).toBe('mine\n');
    await expect(readFile(join(folder.root, 'x'))).rejects.toThrow('ENOENT');
  });

  test('has no environment but the one given', async () => {
    const said = await folder.execute('env; cat /proc/*/environ | tr "\\0" "\\n"');
    const names = said.split('\n').map((line) => line.split('=', 1)[0] ?? '');
    const given = ['', 'HOME', 'OLDPWD', 'PATH', 'PWD', '_'];
    expect(names.filter((name) => !given.includes(name))).toEqual([]);
    expect(said).toContain(`HOME=${folder.own}`);
  });

  test('sees and ends none of the other processes of its user', async () => {
    const other = spawn('sleep', ['7101'], { ...USER, stdio: 'ignore' });
    const ended = once(other, 'exit');
    const said = await folder.execute(
      'grep -l 7101 /proc/[0-9]*/cmdline 2>/dev/null | grep -v self; echo over; setsid kill -9 -1',
    );
    expect(said).toBe('');
    const seen = await folder.execute(
      'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; echo; done',
    );
    expect(seen).not.toMatch(/^sleep 7101/m);
    expect(other.exitCode).toBeNull();
    expect(other.kill(0)).toBe(true);
    other.kill('SIGKILL');
    await ended;
  });

  test('has no privileges, and gains none', async () => {
    const said = await folder.execute(
      'grep -E "^(NoNewPrivs|CapEff|CapPrm|CapBnd|CapAmb|CapInh):" /proc/self/status | tr -d "\\t" | tr "\\n" " "; unshare -U true 2>/dev/null && echo namespace; ls /sys/fs/cgroup 2>/dev/null',
    );
    const none = '0000000000000000';
    expect(said).toBe(
      `CapInh:${none} CapPrm:${none} CapEff:${none} CapBnd:${none} CapAmb:${none} NoNewPrivs:1`,
    );
  });

  test('starts no more processes and writes no more than allowed', async () => {
    const many = await folder.execute('i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done');
    expect(many).toMatch(/Cannot fork|Resource temporarily unavailable/);
    const said = await folder.execute(
      'head -c 3000000 /dev/zero > large; wc -c < large; head -c 3000000 /dev/zero > /tmp/x; wc -c < /tmp/x',
      { fileBytes: 2_000_000 },
    );
    expect(said.split('\n').filter((line) => /^\d+$/.test(line))).toEqual(['2000000', '1048576']);
  });

  test('allocates no more memory and opens no more files than allowed', async () => {
    const memory = await folder.execute(
      `perl -e 'my $m = "x" x (1500 << 20); print "reached\\n"' || echo refused`,
    );
    expect(memory).toContain('refused');
    expect(memory).not.toContain('reached');
    const files = await folder.execute(
      `ulimit -n $(ulimit -Hn); perl -e 'my @f; while (open my $f, "<", "/dev/null") { push @f, $f } print scalar(@f)'`,
    );
    expect(Number(files)).toBeGreaterThan(4000);
    expect(Number(files)).toBeLessThan(4097);
  });

  test.runIf(process.arch === 'x64')(
    'calls no part of the kernel that it does not need',
    async () => {
      const tried = {
        bpf: 321,
        perf: 298,
        uring: 425,
        keyctl: 250,
        add_key: 248,
        userfaultfd: 323,
        personality: 135,
        syslog: 103,
        inotify_init1: 294,
      };
      const script = Object.entries(tried).map(
        ([name, number]) =>
          `perl -e 'my $r = syscall(${number}, 1, 0, 0, 0, 0); print "${name} $r $!\\n"'`,
      );
      const said = await folder.execute(script.join('; '));
      expect(said.split('\n')).toEqual(
        Object.keys(tried).map((name) => `${name} -1 Operation not permitted`),
      );
      // AF_VSOCK leads past the network namespace to the host of a virtual machine.
      const sockets = await folder.execute(
        `for f in 1 2 10 16 40 38 17; do perl -MSocket -e 'print socket(my $s, $ARGV[0], $ARGV[0] == 16 ? SOCK_RAW : SOCK_STREAM, 0) ? 1 : 0' $f; done`,
      );
      expect(sockets).toBe('1111000');
    },
  );

  test.for([
    ['its time is over', { seconds: 2 }],
    ['the process that started it is killed', {}],
  ] as const)('ends with all of its processes when %s', async ([reason, given]) => {
    const begun = join(folder.own, reason);
    const script = `setsid sleep 7102 2>/dev/null & echo begun > '${begun}'; sleep 7102`;
    const command = [process.execPath, INSIDE, '', script];
    const [program = '', ...args] = toSandboxCommand({ ...folder.options, ...given }, command);
    const child = spawn(program, args, {
      ...USER,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const closed = once(child, 'close');
    if (!('seconds' in given)) {
      await vi.waitFor(() => readFile(begun), 10_000);
      child.kill('SIGKILL');
    }
    // Each process of the sandbox holds the other end until it has ended.
    await closed;
    expect(child.signalCode).toBe('SIGKILL');
  });
});

describe('the network of a sandbox', () => {
  const listenOn = async (host: string) => {
    const server = createServer((_, response) => response.end('reached'));
    await once(server.listen(0, host), 'listening');
    const { port } = server.address() as AddressInfo;
    return {
      port,
      [Symbol.asyncDispose]: async () => {
        await new Promise((closed) => server.close(closed));
      },
    };
  };
  const fetchWith = (url: string, isDirect = false) =>
    `curl -sS --max-time 20 ${isDirect ? '--noproxy "*"' : ''} ${url} 2>&1; echo`;

  test('reaches the servers and ranges that are given, and nothing else of the machine', async () => {
    await using given = await listenOn('127.0.0.1');
    await using other = await listenOn('127.0.0.1');
    await using ranged = await listenOn('127.0.0.9');
    const socket = join(folder.own, 'egress.sock');
    await using egress = await openEgress({
      socket,
      user: USER,
      servers: [
        { host: 'localhost', port: given.port },
        // A control plane whose public address is its own.
        { host: '127.0.0.1', port: given.port },
      ],
      ranges: ['127.0.0.9/32'],
    });
    const execute = (script: string) =>
      folder.execute(
        script,
        { environment: { ...folder.options.environment, ...egress.environment } },
        JSON.stringify(egress.way),
      );
    expect(await execute('cat /proc/net/dev | grep -c :')).toBe('1');
    expect(await execute(fetchWith(`http://localhost:${given.port}`))).toBe('reached');
    expect(await execute(fetchWith(`http://127.0.0.1:${given.port}`, true))).toBe('reached');
    const proxy = `--noproxy "" -x ${egress.environment['http_proxy']}`;
    expect(await execute(fetchWith(`${proxy} http://127.0.0.9:${ranged.port}`))).toBe('reached');
    expect(await execute(fetchWith(`${proxy} -p http://127.0.0.9:${ranged.port}`))).toBe('reached');
    const refused = [
      `http://127.0.0.1:${other.port}`,
      `http://localhost:${other.port}`,
      `http://[::ffff:127.0.0.1]:${other.port}`,
      `http://0.0.0.0:${other.port}`,
      `http://2130706433:${other.port}`,
      'http://169.254.169.254/latest/meta-data',
      'http://10.0.0.1',
      'http://192.168.0.1',
      'http://172.16.0.1',
      'http://100.64.0.1',
      'http://[fe80::1]',
      'http://[fd00::1]',
    ];
    const script = refused.map((url) =>
      [
        `through=$(curl -s -o /dev/null -w '%{http_code}' --max-time 20 ${proxy} '${url}')`,
        `tunnel=$(curl -s -o /dev/null -w '%{http_connect}' --max-time 20 -p ${proxy} '${url}')`,
        `curl -s -o /dev/null --max-time 20 --noproxy '*' '${url}'; direct=$?`,
        `echo '${url}' $through $tunnel $direct`,
      ].join('; '),
    );
    const said = await execute(script.join('; '));
    // No connection without the proxy.
    expect(said.split('\n')).toEqual(refused.map((url) => `${url} 502 502 7`));
  });

  test('reaches nothing but what an allow-list names, which adds nothing', async () => {
    await using given = await listenOn('127.0.0.1');
    await using ranged = await listenOn('127.0.0.9');
    const servers = [{ host: 'localhost', port: given.port }];
    const ranges = ['127.0.0.0/29', '127.0.0.8/30'];
    /** Statuses of the control plane, of both addresses and of a name. */
    const tryWith = async (only: readonly string[] | undefined): Promise<string> => {
      await using egress = await openEgress({
        socket: join(folder.own, 'only.sock'),
        user: USER,
        servers,
        ranges,
        only,
      });
      const proxy = `--noproxy "" -x ${egress.environment['http_proxy']}`;
      const hosts = ['127.0.0.9', '127.0.0.10', 'ip6-localhost.example.invalid', '169.254.169.254'];
      const urls = hosts.map((host) => `http://${host}:${ranged.port}`);
      const script = [`http://localhost:${given.port}`, ...urls].map(
        (url) => `curl -s -o /dev/null -w '%{http_code} ' --max-time 20 ${proxy} '${url}'`,
      );
      return await folder.execute(
        script.join('; '),
        { environment: { ...folder.options.environment, ...egress.environment } },
        JSON.stringify(egress.way),
      );
    };
    // Nothing listens at the second address, to which a connection is tried.
    const all = (await tryWith(undefined)).trim();
    expect(all).toBe('200 200 502 502 502');
    expect((await tryWith(['127.0.0.9'])).trim()).toBe('200 200 502 502 502');
    expect((await tryWith(['127.0.0.8/31', '169.254.0.0/16'])).trim()).toBe('200 200 502 502 502');
    for (const only of [
      [],
      ['127.0.0.10'],
      ['*.example.com', 'registry.example.com'],
      ['fd00::/8'],
    ])
      expect((await tryWith(only)).trim()).toBe('200 502 502 502 502');
  });

  test('is gone for all other users', async () => {
    const socket = join(folder.own, 'other.sock');
    await using egress = await openEgress({ socket, user: USER, servers: [], ranges: [] });
    expect(egress.way.socket).toBe(socket);
    const said = await folder.execute(`stat -c %a ${socket}`);
    expect(said).toBe('600');
  });
});
