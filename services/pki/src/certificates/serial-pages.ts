/** Lists of serial numbers, of which there may be very many: read page by page, other work in between. */

import { setImmediate } from 'node:timers/promises';
import { type Answer, listedKeys, type PageChoice } from '@keelson/secrets-api';
import type { ListOptions } from '@keelson/storage';
import { parseSerialText, toSerialKey } from '@keelson/x509';

/** A page takes a few milliseconds. */
const PAGE_SIZE = 1000;

/** Lists names of records, which are serial numbers in hyphen form. */
type ListRecords = (options: ListOptions) => Promise<readonly string[]>;

async function* namePages(
  list: ListRecords,
  { after, limit }: PageChoice,
): AsyncGenerator<readonly string[], void> {
  let wanted = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  let last = after === '' ? undefined : toSerialKey(parseSerialText(after));
  while (wanted > 0) {
    const asked = Math.min(PAGE_SIZE, wanted);
    const names = await list({ limit: asked, ...(last !== undefined && { after: last }) });
    last = names.at(-1);
    if (last === undefined) return;
    yield names;
    if (names.length < asked) return;
    wanted -= asked;
    await setImmediate();
  }
}

const HYPHEN = 0x2d;
const COLON = 0x3a;

/** Names in colon form, as JSON texts separated by commas. Octets cost a tenth of what texts do. */
const toJson = (names: readonly string[]): Uint8Array => {
  const octets = Buffer.from(`"${names.join('","')}"`, 'latin1');
  for (let at = 0; at < octets.byteLength; at++) if (octets[at] === HYPHEN) octets[at] = COLON;
  return octets;
};

/** Serial numbers in colon form from record names in hyphen form. */
export const listSerials = async (
  list: ListRecords,
  choice: PageChoice,
): Promise<readonly string[]> => {
  const serials: string[] = [];
  for await (const names of namePages(list, choice))
    for (const name of names) serials.push(name.replaceAll('-', ':'));
  return serials;
};

/** The same as the answer to a LIST; undefined when there are none. */
export const answerSerials = (
  list: ListRecords,
  choice: PageChoice,
): Promise<Answer | undefined> => {
  const pages = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const names of namePages(list, choice)) yield toJson(names);
  };
  return listedKeys(pages());
};
