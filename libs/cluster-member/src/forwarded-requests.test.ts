import { createEdgeService } from '@keelson/edge';
import { Mount, RequestHead, RequestStart } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { expect, test } from 'vitest';
import { serveForwarded } from './forwarded-requests.ts';

test('a request for a mount that is withheld names the path that the client asked for', async () => {
  const serve = serveForwarded(
    createEdgeService({
      service: 'pki',
      version: '1',
      pathPrefix: '/v1',
      routes: [],
      renderError: (error) => {
        throw error;
      },
    }),
  );
  const mount = messageOf(Mount, { uuid: 'u', path: 'team/pki/' });
  const head = messageOf(RequestHead, { method: 'GET', path: '/roles/web', mount });
  const request = RequestStart.encode(messageOf(RequestStart, { head })).finish();
  await expect(serve(request, async () => false)).rejects.toThrow(
    'no handler for route "team/pki/roles/web"',
  );
});
