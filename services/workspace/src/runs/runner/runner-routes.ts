/** The route of the built-in runner in addition to those of agents (docs: services/workspace/README.md). */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { loadUrlSigner, toSignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import {
  resolveRuntimeVersion,
  sortReleases,
} from '../../workspaces/model/domain/runtime-version.ts';
import { toAgentRunResource } from '../agent-runs/agent-run-document.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { claimForRunner } from './runner-operations.ts';

const CLAIM = resourceBody(
  'agents',
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 90 }),
    version: Type.String({ maxLength: 40 }),
    /** Releases of the provisioning tool that the runner has. */
    'runtime-versions': Type.Array(Type.String({ maxLength: 60 }), { maxItems: 1000 }),
  }),
);

export const runnerRoutes = (context: RunsContext): readonly Route[] =>
  jsonApiRoutes('agents', [
    endpoint({
      method: 'POST',
      path: '/runner/actions/claim',
      summary: 'Claim the oldest phase that waits for the built-in runner; 204 if none waits',
      answers: one('agent-runs'),
      mayBeEmpty: true,
      body: { schema: CLAIM },
      handle: async ({ head, principal, body }) => {
        const { name, version, 'runtime-versions': versions } = body.data.attributes;
        const given = { name, version, ipAddress: head.remoteAddress };
        const claimed = await claimForRunner(context, principal, given);
        if (claimed === undefined) return undefined;
        const release = resolveRuntimeVersion(claimed.run.terraformVersion, sortReleases(versions));
        const sign = await loadUrlSigner(context, {
          ...toSignedFor(head),
          tokenId: claimed.tokenId,
        });
        return { document: { data: toAgentRunResource(claimed, release ?? null, sign) } };
      },
    }),
  ]);
