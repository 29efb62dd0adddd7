/** Reports the state of the process to systemd, if it was started with `Type=notify` (sd_notify(3)). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from '@keelson/config';

export type ServiceState = 'READY=1' | 'RELOADING=1' | 'STOPPING=1';

/**
 * Does nothing if systemd does not expect it. Node cannot open Unix datagram sockets, and the packages that can
 * are native code, so the program `systemd-notify` sends the state; the unit needs `NotifyAccess=all`.
 * @throws Error if the message could not be sent
 */
export const notifyServiceManager = async (
  { NOTIFY_SOCKET: socket, PATH: path }: Environment,
  state: ServiceState,
): Promise<void> => {
  if (socket === undefined) return;
  await promisify(execFile)('systemd-notify', [state], {
    env: { NOTIFY_SOCKET: socket, PATH: path },
  });
};
