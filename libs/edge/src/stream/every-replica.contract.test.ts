/** Requests that every replica receives. */

import { KeelsonError } from '@keelson/errors';
import { describe, expect, test } from 'vitest';
import { edgeRequest } from '../edge.contract.ts';
import { bufferedBody } from '../edge-body.ts';
import { type EdgeResponse, edgeResponse } from '../edge-service.ts';
import type { EveryReplica } from './connect-edge.ts';
import { connect, ready, serve } from './replicas.contract.ts';

describe('a request for every replica', () => {
  const everyReplica: EveryReplica = {
    applies: ({ path }) => path === '/everywhere',
    choose: (responses) => responses.toSorted((a, b) => b.head.status - a.head.status)[0] as never,
  };
  const body = bufferedBody(Buffer.from('{}'));
  const counting = async (answer: () => Promise<EdgeResponse>) => {
    const replica = { asked: 0, port: 0 };
    const { port } = await serve(() => {
      replica.asked += 1;
      return answer();
    });
    return Object.assign(replica, { port });
  };

  test('reaches each of them once, and its answer is the chosen one', async () => {
    const replicas = [
      await counting(async () => edgeResponse(200)),
      await counting(async () => edgeResponse(202)),
      await counting(async () => edgeResponse(201)),
    ];
    const client = connect(
      replicas.map(({ port }) => port),
      undefined,
      everyReplica,
    );
    await ready(client, 3);
    const ask = async (path: string): Promise<number> =>
      (await client.edge.handle(edgeRequest({ method: 'PUT', path, body }))).head.status;
    expect(await ask('/everywhere')).toBe(202);
    expect(replicas.map(({ asked }) => asked)).toEqual([1, 1, 1]);
    await ask('/elsewhere');
    expect(replicas.map(({ asked }) => asked).reduce((sum, asked) => sum + asked)).toBe(4);
  });

  test('is answered by the others if one fails, and fails with its error if all do', async () => {
    const failing = await counting(() => Promise.reject(new KeelsonError('sys.sealed')));
    const working = await counting(async () => edgeResponse(200));
    const request = edgeRequest({ method: 'PUT', path: '/everywhere', body });
    const both = connect([failing.port, working.port], undefined, everyReplica);
    await ready(both, 2);
    expect((await both.edge.handle(request)).head.status).toBe(200);
    const alone = connect([failing.port], undefined, everyReplica);
    await ready(alone, 1);
    await expect(alone.edge.handle(request)).rejects.toMatchObject({ code: 'sys.sealed' });
  });

  test('waits for the first one', async () => {
    const late = await counting(async () => edgeResponse(200));
    const client = connect([late.port], undefined, everyReplica);
    const request = edgeRequest({ method: 'PUT', path: '/everywhere', body });
    expect((await client.edge.handle(request)).head.status).toBe(200);
  });
});
