import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinary } from '../find-binary.ts';
import { findFreePort } from '../free-port.ts';
import { ServerProcess } from '../server-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { writeExample } from './example-file.ts';
import { unprivilegedUser } from './lost-machine.ts';
import { SUPERUSER } from './patroni.ts';

export interface PgBouncer extends AsyncDisposable {
  /** Password of the user `postgres`. */
  readonly password: string;
  readonly port: number;
  readonly process: ServerProcess;
}

/** PgBouncer with `pool_mode=transaction`, on a free loopback port. @param serverPort where PostgreSQL is */
export const startPgBouncer = async (serverPort: number): Promise<PgBouncer> => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryDirectory());
  await chmod(folder.path, 0o755);
  const port = await findFreePort();
  const users = join(folder.path, 'userlist.txt');
  await writeFile(users, `"${SUPERUSER.username}" "${SUPERUSER.password}"\n`);
  const file = await writeExample(folder.path, 'pgbouncer.ini', {
    'port=5000': `port=${serverPort}`,
    '0.0.0.0': '127.0.0.1',
    '6432': String(port),
    '/etc/pgbouncer/userlist.txt': users,
  });
  const process = new ServerProcess({
    file: await findBinary('pgbouncer', 'pgbouncer'),
    args: unprivilegedUser === undefined ? [file] : ['--user', 'nobody', file],
    ready: /process up/,
  });
  stack.defer(() => process.kill());
  await process.start();
  const owned = stack.move();
  return {
    port,
    password: SUPERUSER.password,
    process,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
