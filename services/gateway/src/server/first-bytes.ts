/** Reads the first bytes of a connection before a parser gets it. */

import type { Socket } from 'node:net';
import { guarded } from '@keelson/errors';

/**
 * Takes exactly `size` bytes; later ones stay in the connection.
 * @returns undefined if the connection ends before that
 */
export const takeBytes = (socket: Socket, size: number): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const settle = (bytes: Buffer | undefined): void => {
      socket.off('readable', read).off('end', giveUp).off('close', giveUp);
      resolve(bytes);
    };
    const giveUp = guarded('gateway/server', (): void => settle(undefined));
    const read = guarded('gateway/server', (): void => {
      const bytes = socket.read(size) as Buffer | null;
      // Shorter only if the client has ended its side.
      if (bytes !== null) settle(bytes.length === size ? bytes : undefined);
    });
    if (socket.destroyed) return giveUp();
    socket.on('readable', read).on('end', giveUp).on('close', giveUp);
    return undefined;
  });
