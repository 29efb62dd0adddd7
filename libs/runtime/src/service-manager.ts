/** The states that a process tells systemd, where it was started with `Type=notify` (sd_notify(3)). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from '@keelson/config';

export type ServiceState = 'READY=1' | 'RELOADING=1' | 'STOPPING=1';

/**
 * Does nothing where systemd does not wait for it. Node opens no datagram sockets of a file system, and the packages
 * that do are native code, so systemd's own program sends the state; the unit needs `NotifyAccess=all` for it.
 * @throws Error if the message could not be sent
 */
export const tellServiceManager = async (
  { NOTIFY_SOCKET: socket, PATH: path }: Environment,
  state: ServiceState,
): Promise<void> => {
  if (socket === undefined) return;
  await promisify(execFile)('systemd-notify', [state], {
    env: { NOTIFY_SOCKET: socket, PATH: path },
  });
};
