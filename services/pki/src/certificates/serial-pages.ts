/** Lists of serial numbers, of which there may be very many: read page by page, other work in between. */
import { setImmediate } from 'node:timers/promises';
import type { ListOptions } from '@keelson/storage';
import { parseSerialText, toSerialHex, toSerialKey } from '@keelson/x509';
import type { PageChoice } from '../mounts/list-page.ts';

const PAGE_SIZE = 1000;

/** Serial numbers in colon form from record names in hyphen form. */
export const listSerials = async (
  list: (options: ListOptions) => Promise<readonly string[]>,
  { after, limit }: PageChoice,
): Promise<readonly string[]> => {
  const wanted = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  const serials: string[] = [];
  let last = after === '' ? undefined : toSerialKey(parseSerialText(after));
  while (serials.length < wanted) {
    const names = await list({
      limit: Math.min(PAGE_SIZE, wanted - serials.length),
      ...(last !== undefined && { after: last }),
    });
    for (const name of names) serials.push(toSerialHex(parseSerialText(name)));
    last = names.at(-1);
    if (last === undefined) break;
    await setImmediate();
  }
  return serials;
};
