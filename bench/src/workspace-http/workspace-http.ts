import { randomBytes } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { askInTurn, measureBareFastify, measureRate } from '../http-load.ts';
import { createResource, openMeasuredServer } from '../measured-server.ts';

export const workspaceHttp: Bench = {
  name: 'workspace-http',
  claim: 'P7: show a workspace at >= 10 x a peer',
  method:
    'GET by id over HTTP from 64 connections, all workspaces in turn, no rate limit; the limit is Fastify ' +
    'serving as many bytes on the same paths.',
  run: async (context) => {
    const { quick, say } = context;
    const seconds = quick ? 0.3 : 10;
    await using server = await openMeasuredServer(context, { KEELSON_RATE_LIMIT: 'off' });
    const { url, apiHeaders: headers, pid } = server;
    const create = createResource.bind(undefined, server);
    const organization = `bench-${randomBytes(4).toString('hex')}`;
    const described = { name: organization, email: 'bench@example.com' };
    await create('organizations', 'organizations', described);
    const paths: string[] = [];
    for (let turn = 0; turn < (quick ? 10 : 1000); turn += 1) {
      const name = `workspace-${turn}`;
      const id = await create(`organizations/${organization}/workspaces`, 'workspaces', { name });
      paths.push(`/api/v2/workspaces/${id}`);
    }
    const answer = await fetch(url + (paths[0] ?? ''), { headers });
    const bodyBytes = (await answer.arrayBuffer()).byteLength;
    say('bare Fastify');
    const limit = await measureBareFastify(paths, bodyBytes, seconds);
    say('showing');
    await askInTurn({ url, paths, headers }, { duration: seconds / 4 });
    const shown = await measureRate({ url, paths, headers }, seconds, pid);
    return [{ name: 'show by id (target: at least 0.4)', ...shown, limit }];
  },
};
