import { RequestStart } from '@keelson/proto/edge/v1/edge';
import { expect, test } from 'vitest';
import { serveForwarded } from './forwarding.ts';

test('a request for a mount that is withheld names the path that the client asked for', async () => {
  const serve = serveForwarded(() => {
    throw new Error('no edge is needed');
  });
  const head = { method: 'GET', path: '/roles/web', mount: { uuid: 'u', path: 'team/pki/' } };
  const request = RequestStart.encode(RequestStart.fromPartial({ head })).finish();
  await expect(serve(request, async () => false)).rejects.toThrow(
    'no handler for route "team/pki/roles/web"',
  );
});
