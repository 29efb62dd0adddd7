/** The SSH key of the workspace, tokens of runs, and the environment. */
import { type Attempt, everywhere, OPEN, type Walls, walls } from './attempt.ts';

const KEY = everywhere('SSH agent of a process without the variables of the run');
const MEMORY = walls('process namespace', 'user id', OPEN);

/** Tried in a run of a workspace with a key. */
const key = (
  name: string,
  moment: 'init' | 'plan',
  program: string,
  held: Walls,
  variables: Attempt['variables'] = {},
): Attempt => ({
  name: `the SSH key of the workspace ${name}`,
  area: 'secrets',
  moment,
  walls: held,
  program,
  variables,
  isReached: ({ secrets }, { said, log }) => `${said}${log}`.includes(secrets.keyDigest),
});

/** The program acts as one that git or its helpers start during the download of modules. */
const DIGEST_ENVIRONMENT = `env | tr " '\\"=" '\\n' | grep -a ^/ | while read -r f; do digest_keys "$f"; done`;

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const keys: readonly Attempt[] = [
  key(
    'in files',
    'plan',
    `find "$RUNNER" "$HOME" "$TMPDIR" ../.. /tmp -type f -size -64k 2>/dev/null | while read -r f; do digest_keys "$f"; done`,
    everywhere('removal before the code of the run'),
  ),
  key(
    'in the environment',
    'plan',
    'env > "$HOME/environment"; digest_keys "$HOME/environment" /proc/[0-9]*/environ',
    everywhere('the environment has only what is named'),
  ),
  key(
    'in the memory of the process that executes the run',
    'plan',
    `for p in $(ancestors); do digest_memory $p; done`,
    MEMORY,
  ),
  key(
    'in the memory of any process',
    'plan',
    `for p in /proc/[0-9]*; do digest_memory "$(basename $p)"; done 2>/dev/null; true`,
    MEMORY,
  ),
  key(
    'as a debugger of the process that executes the run',
    'plan',
    `for p in $(ancestors); do tr '\\0' ' ' < /proc/$p/cmdline | grep -q executor && kill -USR1 $p; done; sleep 1
curl -s -m 2 http://127.0.0.1:9229/json | grep -q webSocketDebuggerUrl && echo REACHED; true`,
    everywhere('--disable-sigusr1'),
  ),
  key(
    'by an agent that is left',
    'plan',
    `find / -xdev -type s 2>/dev/null | while read -r s; do SSH_AUTH_SOCK="$s" timeout 2 ssh-add -L 2>/dev/null | grep ssh- && echo REACHED; done; ssh-add -L | grep ssh- && echo REACHED; true`,
    everywhere('end of what has the key before the code of the run'),
  ),
  key('as git, by PATH in its variables', 'init', DIGEST_ENVIRONMENT, KEY, {
    PATH: `./evil:${SYSTEM_PATH}`,
  }),
  key('as a command of git, by GIT_EXEC_PATH in its variables', 'init', DIGEST_ENVIRONMENT, KEY, {
    GIT_EXEC_PATH: './evil',
  }),
  key(
    'as a transport of git, by GIT_CONFIG_COUNT in its variables',
    'init',
    DIGEST_ENVIRONMENT,
    KEY,
    {
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'url.ext::sh ./evil/git .insteadOf',
      GIT_CONFIG_VALUE_0: 'ssh://',
      GIT_CONFIG_KEY_1: 'protocol.ext.allow',
      GIT_CONFIG_VALUE_1: 'always',
    },
  ),
  key('as ssh, by PATH in its variables', 'init', DIGEST_ENVIRONMENT, KEY, {
    PATH: `./evil-ssh:${SYSTEM_PATH}`,
  }),
].map((attempt) => {
  if (!attempt.program.includes('REACHED')) return attempt;
  const { isReached: _byDigest, ...said } = attempt;
  return said;
});

const secret = (name: string, program: string, held: Walls, isReached?: Attempt['isReached']) => ({
  name,
  area: 'secrets' as const,
  moment: 'together' as const,
  walls: held,
  program,
  ...(isReached && { isReached }),
});

const CONTROL_PLANE = everywhere('right of the token');
const TOKEN = `T=$(grep -ho 'token = "[^"]*"' "$TF_CLI_CONFIG_FILE" | head -n 1 | cut -d '"' -f 2)`;

const tokens: readonly Attempt[] = [
  secret(
    'its own token after its phase',
    `${TOKEN}; echo "token $T"`,
    everywhere('end of the token with the phase'),
    async (stage, { said }) => {
      const [, token = ''] = /^token (\S+)$/m.exec(said) ?? [];
      if (token === '') throw new Error(`the run did not find its token: ${said}`);
      return (await stage.answerTo('GET', '/account/details', token)) !== 401;
    },
  ),
  ...(
    [
      ['organizations of others with its token', 'organizations/victim'],
      ['workspaces of others with its token', 'organizations/victim/workspaces'],
      [
        'the state of another workspace with its token',
        'workspaces/$VICTIM_WORKSPACE/current-state-version',
      ],
      ['the variables of another workspace with its token', 'workspaces/$VICTIM_WORKSPACE/vars'],
      ['the variables of its own workspace with its token', 'organizations/attacker/varsets'],
      ['users with its token', 'admin/users'],
      ['SSH keys with its token', 'organizations/attacker/ssh-keys'],
    ] as const
  ).map(([name, path]) =>
    secret(
      name,
      `${TOKEN}; curl -sk -m 5 -o "$HOME/answer" -w '%{http_code}' -H "Authorization: Bearer $T" "$ADDRESS/api/v2/${path}" | grep '^2' && echo REACHED; true`,
      CONTROL_PLANE,
    ),
  ),
  secret(
    'a phase of another run with its token',
    `${TOKEN}; curl -sk -m 5 -o /dev/null -w '%{http_code}' -X PATCH -H 'Content-Type: application/vnd.api+json' -H "Authorization: Bearer $T" -d '{"data":{"type":"agent-runs","attributes":{"status":"errored"}}}' "$ADDRESS/api/v2/agent-runs/$VICTIM_RUN" | grep '^2' && echo REACHED; true`,
    CONTROL_PLANE,
  ),
  secret(
    'further phases with its token',
    `${TOKEN}; curl -sk -m 5 -o /dev/null -w '%{http_code}' -X POST -H 'Content-Type: application/vnd.api+json' -H "Authorization: Bearer $T" -d '{"data":{"type":"agents","id":"agent-x"}}' "$ADDRESS/api/v2/agent-runs/actions/claim" | grep '^2' && echo REACHED; true`,
    CONTROL_PLANE,
  ),
  secret(
    'the secrets API with its token',
    `${TOKEN}; curl -sk -m 5 -o /dev/null -w '%{http_code}' -H "X-Vault-Token: $T" "$ADDRESS/v1/sys/mounts" | grep '^2' && echo REACHED; true`,
    CONTROL_PLANE,
  ),
  secret(
    'settings of the control plane in its environment',
    'env | grep -a -e canary-environment -e KEELSON_ && echo REACHED; true',
    everywhere('the environment has only what is named'),
  ),
  secret(
    'open files of the process that started it',
    'for f in /proc/self/fd/*; do case "$(readlink $f)" in *.sqlite*|*unseal*|*first-run*) echo REACHED;; esac; done; true',
    everywhere('descriptors that are closed on execution'),
  ),
];

export const secretAttempts: readonly Attempt[] = [...keys, ...tokens];
