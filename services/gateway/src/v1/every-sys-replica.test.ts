import { type EdgeResponse, edgeResponse } from '@keelson/edge';
import { expect, test } from 'vitest';
import { everySysReplica } from './every-sys-replica.ts';

const answer = (status: number, body: object): EdgeResponse =>
  edgeResponse(status, {}, Buffer.from(JSON.stringify(body)));

test('whoever gives a share sees the replica that wants the most', () => {
  const open = answer(200, { sealed: false, progress: 0 });
  const begun = answer(200, { sealed: true, progress: 1 });
  const further = answer(200, { sealed: true, progress: 2 });
  const refused = answer(400, { errors: ['not a share of this cluster'] });
  const { choose } = everySysReplica;
  expect(choose([open])).toBe(open);
  expect(choose([open, further, begun])).toBe(begun);
  expect(choose([further, open])).toBe(further);
  expect(choose([open, refused, begun])).toBe(refused);
});
