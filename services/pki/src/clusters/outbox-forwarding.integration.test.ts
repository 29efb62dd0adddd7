/** The outbox of a secondary on its way to the primary, of which the link between them is left out. */
import type { ReplicationMember } from '@keelson/cluster-member';
import { bufferedBody } from '@keelson/edge';
import { RequestStart, ResponseStart } from '@keelson/proto/edge/v1/edge';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenPki, openPki } from '../../test/open-pki.ts';
import { applyOutbox } from './outbox-contents.ts';
import { acceptingOutboxes, forwardOutbox } from './outbox-forwarding.ts';

let folders: readonly TemporaryDirectory[];
let primary: OpenPki;
let secondary: OpenPki;

beforeEach(async () => {
  folders = [await temporaryDirectory(), await temporaryDirectory()];
  [primary, secondary] = (await Promise.all(folders.map(({ path }) => openPki(path)))) as [
    OpenPki,
    OpenPki,
  ];
});
afterEach(async () => {
  await primary.close();
  await secondary.close();
  await Promise.all(folders.map((folder) => folder[Symbol.asyncDispose]()));
});

/** Sends the outbox of the secondary to the primary, over a link that is up. */
const sendOutbox = (): Promise<void> => {
  const accepting = acceptingOutboxes(primary.store, primary.service.edge);
  const forward = async (request: Uint8Array) => {
    const { head, body } = RequestStart.decode(request);
    if (head === undefined) throw new Error('a request has a head');
    const answer = await accepting.handle({
      head,
      body: bufferedBody(body),
      signal: new AbortController().signal,
    });
    const response = ResponseStart.encode({
      head: answer.head,
      body: Buffer.alloc(0),
      complete: true,
    }).finish();
    return { response };
  };
  const run = { role: 'secondary', secondary: { forward } };
  const member = { runOf: () => run } as unknown as ReplicationMember;
  return forwardOutbox(member, secondary.store, secondary.mount);
};

describe('an announcement that cannot be read', () => {
  const place = (serial: string): string =>
    `cluster-revocations/${secondary.mount.uuid}/${serial}/berlin`;
  const inOutbox = (serial: string): string =>
    `local/outbox/${secondary.mount.uuid}/${place(serial)}`;
  const revocation = { revokedAtMs: 1, issuerId: '', notAfterMs: 1, revokedBy: { kind: 'lease' } };
  const put = (serial: string, value: object) =>
    secondary.store.transact((tx) =>
      tx.write(inOutbox(serial), Buffer.from(JSON.stringify(value))),
    );
  const isWritten = async (pki: OpenPki, serial: string): Promise<boolean> =>
    (await pki.store.read(`shared/${place(serial)}`)) !== undefined;
  const faults = [
    ['of another shape', () => put('01', { ...revocation, revokedAtMs: 'yesterday' })],
    [
      'that a disk has damaged',
      async () => {
        await put('01', revocation);
        const damaged = [{ path: inOutbox('01'), stored: Buffer.from([0]) }];
        await secondary.store.applyRecords('damage', damaged);
      },
    ],
  ] as const;

  test.for(faults)(
    'because it is %s is reported and kept, and others are sent',
    async ([, damage]) => {
      await damage();
      await put('02', revocation);
      await sendOutbox();
      expect([await isWritten(primary, '01'), await isWritten(primary, '02')]).toEqual([
        false,
        true,
      ]);
      expect(await secondary.store.list(`local/outbox/${secondary.mount.uuid}/`)).toHaveLength(1);
      expect(secondary.store.damagedPaths()).toEqual([inOutbox('01')]);
      expect(await secondary.service.edge.check()).toContain(
        'records that cannot be read (the log names them): 1',
      );
      // Without a primary, as after a promotion, the others are written here.
      await put('03', revocation);
      await applyOutbox(secondary.store, secondary.mount);
      expect([await isWritten(secondary, '01'), await isWritten(secondary, '03')]).toEqual([
        false,
        true,
      ]);
      await put('01', revocation);
      await sendOutbox();
      expect(await isWritten(primary, '01')).toBe(true);
      expect(secondary.store.damagedPaths()).toEqual([]);
    },
  );
});
