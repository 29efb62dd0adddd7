/**
 * The Debian package of a release, on the machine of the test with a copy-on-write layer over its files.
 *
 * | what                               | expected                                                              |
 * | ---------------------------------- | --------------------------------------------------------------------- |
 * | `dpkg --install`                   | user `keelson`, the command, files as packed, settings for root only  |
 * | the `Maintainer` field             | the address of whoever makes the release                              |
 * | completion in bash                 | commands and their arguments, from the installed command              |
 * | `systemd-analyze verify`           | no word                                                               |
 * | `systemd-analyze security`         | an exposure of at most 2.0 of 10                                      |
 * | `ExecStart` with the unit's values | ready, as the user `keelson`                                          |
 * | the unit under a running systemd   | ready when started, reloads, starts again after a kill, stops         |
 * | audit files in `/var/log/keelson`  | are written, and what logrotate calls after a rotation succeeds       |
 * | `dpkg --remove`, then `--purge`    | settings stay, then are gone; data stays                              |
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  findFreePort,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rootManifest } from './src/repository.ts';
import { runUnderSystemd } from './systemd-machine.ts';

const run = promisify(execFile);

/** A user who is not root cannot install packages. */
const isRoot = process.getuid?.() === 0;

/** Runs a command below a layer over all files of the machine; `$1` is the folder of the layer, the rest the command. */
const IN_LAYER = `
set -eu
layer=$1; shift
# A file system of its own in the suite, which the layer does not show.
unset TMPDIR
mkdir -p "$layer/changed" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/changed,workdir=$layer/work" "$layer/root"
mount --rbind /proc "$layer/root/proc"
mount --rbind /dev "$layer/root/dev"
exec chroot "$layer/root" "$@"
`;

/** @param file the package, once it was made */
export const registerDebianPackageCases = (file: () => string): void => {
  describe.runIf(isRoot)('the Debian package', () => {
    let folder: TemporaryDirectory;
    let layers: string;

    const inLayer = (...command: string[]): [string, ...string[]] => [
      'unshare',
      '--mount',
      'sh',
      '-c',
      IN_LAYER,
      'sh',
      layers,
      ...command,
    ];
    const shell = async (script: string): Promise<string> => {
      const [program, ...given] = inLayer('sh', '-euc', script);
      return (await run(program, given)).stdout;
    };
    beforeAll(async () => {
      folder = await temporaryDirectory();
      layers = join(folder.path, 'layers');
      await chmod(folder.path, 0o755);
      await mkdir(layers);
      await run('mount', ['-t', 'tmpfs', 'keelson-test', layers]);
      // Outside of the temporary folder, which a layer over / does not show.
      await mkdir(join(layers, 'changed'), { recursive: true });
      await writeFile(join(layers, 'changed/keelson.deb'), await readFile(file()));
      await shell('dpkg --install /keelson.deb');
    }, 300_000);
    afterAll(async () => {
      await run('umount', [layers]);
      await folder[Symbol.asyncDispose]();
    });

    test('has its files, its user and its command', async () => {
      const printed = await shell(`
      dpkg --verify keelson
      getent passwd keelson | cut -d: -f6,7
      keelson --version
      stat -c '%a %U' /etc/keelson/keelson.env /usr/share/man/man1/keelson.1 /etc/logrotate.d/keelson
      dpkg-query --show --showformat='\${Maintainer}\n' keelson
    `);
      expect(printed.trim().split('\n')).toEqual([
        '/var/lib/keelson:/usr/sbin/nologin',
        rootManifest().version,
        '640 root',
        '644 root',
        '644 root',
        'The Keelson authors <release@keelson.example>',
      ]);
    });

    test('completes commands in bash, and has the completions of zsh and fish', async () => {
      // The words of a line that is being typed, as the package bash-completion passes them on.
      const printed = await shell(`
      head -n 1 /usr/share/zsh/vendor-completions/_keelson
      grep -c '^complete ' /usr/share/fish/vendor_completions.d/keelson.fish
      bash --norc -c '
        _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; }
        compopt() { :; }
        . /usr/share/bash-completion/completions/keelson
        COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; __keelson_complete; echo "\${COMPREPLY[@]}"
      ' keelson replication pro
    `);
      expect(printed).toMatch(/^#compdef keelson\n[1-9]\d*\npromote\n$/);
    });

    test('has a unit that systemd accepts and that is exposed little', async () => {
      const unit = '/usr/lib/systemd/system/keelson.service';
      expect(await shell(`systemd-analyze verify ${unit} 2>&1 | grep -i keelson || true`)).toBe('');
      const printed = await shell(`systemd-analyze security --offline=yes --threshold=20 ${unit}`);
      expect(printed).toMatch(/Overall exposure level for keelson\.service: \d\.\d OK/);
    });

    test('starts with the command and the values of its unit', async () => {
      const unit = await readFile(
        join(layers, 'changed/usr/lib/systemd/system/keelson.service'),
        'utf8',
      );
      const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
      const values = [...unit.matchAll(/^Environment=(.+)$/gm)].flatMap(([, line = '']) =>
        line.split(' '),
      );
      expect(values).toContain('KEELSON_DATA_DIR=/var/lib/keelson');
      const keelson = await startKeelson({
        dataFolder: join(layers, 'changed/var/lib/keelson'),
        command: inLayer(
          'sh',
          '-euc',
          `install -d -m 0700 -o keelson -g keelson /var/lib/keelson /var/cache/keelson
        set -a; . /etc/keelson/keelson.env
        exec setpriv --reuid=keelson --regid=keelson --clear-groups env ${values.join(' ')} ${command}`,
        ),
      });
      await using started = new AsyncDisposableStack();
      started.defer(async () => {
        await keelson.stop('SIGTERM');
      });
      const statuses = ['/readyz', '/ui/'].map(
        async (path) => (await fetch(keelson.http + path)).status,
      );
      expect(await Promise.all(statuses)).toEqual([200, 200]);
      const { uid } = await stat(`/proc/${keelson.pid}`);
      const users = await readFile(join(layers, 'changed/etc/passwd'), 'utf8');
      expect(users).toContain(`keelson:x:${uid}:`);
    });

    test('starts, reloads, starts again after a kill, and stops under systemd', async () => {
      const port = await findFreePort();
      const printed = await runUnderSystemd(
        layers,
        `
      rm -rf /var/lib/keelson
      printf 'KEELSON_HTTP_PORT=${port}\\nKEELSON_HTTPS_PORT=0\\n' >> /etc/keelson/keelson.env
      answer() { curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:${port}/readyz; }
      systemctl start keelson
      answer
      ps -o user= -p "$(systemctl show keelson -p MainPID --value)"
      stat -c '%a %U' /var/lib/keelson/first-run.json
      root=$(sed -n 's/.*"root_token": "\\(.*\\)",/\\1/p' /var/lib/keelson/first-run.json)
      curl -s -o /dev/null -w '%{http_code}\\n' -X PUT -H "X-Service-Token: $root" \\
        -d '{"type":"file","options":{"file_path":"/var/log/keelson/audit.log"}}' http://127.0.0.1:${port}/v1/sys/audit/file
      stat -c '%a %U' /var/log/keelson /var/log/keelson/audit.log
      mv /var/log/keelson/audit.log /var/log/keelson/audit.log.1
      sed -n '/postrotate/,/endscript/{//!p}' /etc/logrotate.d/keelson | sh -eu
      systemctl reload keelson
      answer
      kill -9 "$(systemctl show keelson -p MainPID --value)"
      # The journal is read until it says that systemd has ordered a restart; the next line then ends the reader.
      journalctl -u keelson --lines=all --follow | grep -q 'restart counter is at 1'
      # Waits for the start that systemd has ordered.
      systemctl start keelson
      answer
      systemctl show keelson -p NRestarts --value
      systemctl stop keelson
      systemctl is-active keelson || true
      # What the unit has printed is in the journal once journald has read it, which takes its time on a busy machine.
      journalctl --sync
      journalctl -u keelson -o cat | grep -c 'Keelson is up'
      `,
      );
      expect(printed).toBe(
        '200\nkeelson\n600 keelson\n204\n750 keelson\n600 keelson\n200\n200\n1\ninactive\n2\n',
      );
    });

    test('leaves the settings when removed, and the data when purged', async () => {
      await shell(
        'mkdir -p /var/lib/keelson && dpkg --remove keelson && test -e /etc/keelson/keelson.env',
      );
      await shell(
        '! test -e /usr/lib/keelson && dpkg --purge keelson && ! test -e /etc/keelson && getent passwd keelson',
      );
      expect(existsSync(join(layers, 'changed/var/lib/keelson'))).toBe(true);
    });
  });
};
