/**
 * A server with processes of its own, all of which end with -9 at once when it is killed, as on a machine that loses
 * its power: they have their own process namespace.
 */
import { findBinary } from '../find-binary.ts';
import { ServerProcess } from '../server-process.ts';

const NOBODY = '65534';

/** User and group as which PostgreSQL runs: it refuses root. */
export const unprivilegedUser =
  process.getuid?.() === 0 ? { uid: Number(NOBODY), gid: Number(NOBODY) } : undefined;

export const machineProcess = async (command: {
  readonly file: string;
  readonly args: readonly string[];
  readonly ready: RegExp;
}): Promise<ServerProcess> => {
  const apart = ['--pid', '--fork', '--kill-child=KILL', '--mount-proc'];
  const asNobody = [
    'setpriv',
    '--reuid',
    NOBODY,
    '--regid',
    NOBODY,
    '--clear-groups',
    '--pdeathsig',
    'KILL',
  ];
  return new ServerProcess({
    file: await findBinary('unshare', 'util-linux'),
    args: [
      ...(unprivilegedUser === undefined
        ? ['--user', '--map-current-user', ...apart]
        : [...apart, ...asNobody]),
      command.file,
      ...command.args,
    ],
    ready: command.ready,
  });
};
