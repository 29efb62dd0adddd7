/** An SSH server on loopback that serves repositories to the holder of one key. */
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { isAbsolute, join, normalize } from 'node:path';
import ssh2, { type AuthContext, type Connection, type ParsedKey, type ServerChannel } from 'ssh2';

export interface SshServer extends AsyncDisposable {
  /** Host and port. */
  readonly authority: string;
  /** The key that it accepts, in OpenSSH's format. */
  readonly privateKey: string;
  /** The commands of those who presented the key. */
  readonly commands: readonly string[];
}

const generateKeys = () => ssh2.utils.generateKeyPairSync('ed25519');

const parsePublic = (text: string): ParsedKey => {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return key;
};

/** Without a signature the client only asks whether the key would do. */
const isHolder = (context: AuthContext, accepted: ParsedKey): boolean =>
  context.method === 'publickey' &&
  accepted.getPublicSSH().equals(context.key.data) &&
  (context.signature === undefined ||
    (context.blob !== undefined &&
      accepted.verify(context.blob, context.signature, context.hashAlgo) === true));

/** Serves `git-upload-pack '/acme/module.git'` below the folder. */
const upload = (folder: string, command: string, channel: ServerChannel): void => {
  const [, path = ''] = /^git-upload-pack '([^']+)'$/.exec(command) ?? [];
  if (!isAbsolute(path)) {
    channel.exit(1);
    channel.end();
    return;
  }
  const child = spawn('git', ['upload-pack', join(folder, normalize(path))], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.once('close', (code) => {
    channel.exit(code ?? 1);
    channel.end();
  });
};

/** @param folder of the bare repositories */
export const startSshServer = async (folder: string): Promise<SshServer> => {
  const host = generateKeys();
  const user = generateKeys();
  const accepted = parsePublic(user.public);
  const commands: string[] = [];
  const clients = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [host.private] }, (client) => {
    clients.add(client);
    // The end of the connection informs the client; the error adds nothing.
    client.on('error', () => client.end());
    client.on('close', () => clients.delete(client));
    client.on('authentication', (context) => {
      if (isHolder(context, accepted)) context.accept();
      else context.reject(['publickey']);
    });
    client.on('session', (acceptSession) =>
      acceptSession().on('exec', (acceptCommand, _reject, { command }) => {
        commands.push(command);
        upload(folder, command, acceptCommand());
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    authority: `127.0.0.1:${port}`,
    privateKey: user.private,
    commands,
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
