/** The endpoints by which agents do work at repositories (services/workspace/README.md). */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, nullable, one, resourceBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { signedRoute } from '../../base/signed-urls/signed-routes.ts';
import { loadUrlSigner, toSignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import { MAX_ANSWER_BYTES } from '../providers/provider-requests.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { toWorkResource } from './agent-work-document.ts';
import {
  claimWork,
  endWork,
  reportCommit,
  uploadArchive,
  type WorkEnd,
} from './agent-work-operations.ts';

const CLAIM = Type.Object({
  data: Type.Object({ type: Type.Literal('agents'), id: Type.String({ maxLength: 64 }) }),
});
const COMMIT = resourceBody(
  'agent-repository-work',
  Type.Object({
    'default-branch': Type.String({ maxLength: 255 }),
    commit: nullable(
      Type.Object({
        sha: Type.String({ pattern: '^[0-9a-f]{40,64}$', maxLength: 64 }),
        author: Type.String({ maxLength: 4096 }),
        message: Type.String({ maxLength: 4096 }),
      }),
    ),
    'changed-files': nullable(Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 5000 })),
  }),
);
const END = resourceBody(
  'agent-repository-work',
  Type.Object({
    status: Type.Union([Type.Literal('finished'), Type.Literal('errored')]),
    'answer-status': Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
    'answer-body': Type.Optional(Type.String({ maxLength: MAX_ANSWER_BYTES })),
    'error-message': Type.Optional(Type.String({ maxLength: 2000 })),
    'is-final': Type.Optional(Type.Boolean()),
    'worker-died': Type.Optional(Type.Boolean()),
  }),
);

const ONE = '/agent-repository-work/:work_id';

export const agentWorkRoutes = (context: VcsContext): readonly Route[] => [
  ...jsonApiRoutes('agents', [
    endpoint({
      method: 'POST',
      path: '/agent-repository-work/actions/claim',
      summary:
        'Claim the work at repositories that has waited longest for an agent of the pool; 204 if none waits',
      answers: one('agent-repository-work'),
      mayBeEmpty: true,
      body: { schema: CLAIM },
      handle: async ({ principal, body }) => {
        const claimed = await claimWork(context, principal, body.data.id);
        return claimed && { document: { data: toWorkResource(context, claimed) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ONE}/actions/report-commit`,
      summary: 'Report the commit that was found; the answer names the archives that are wanted',
      answers: one('agent-repository-work'),
      body: { schema: COMMIT },
      handle: async ({ head, principal, params, body }) => {
        const id = params.work_id;
        const { commit, ...attributes } = body.data.attributes;
        const wanted = await reportCommit(context, principal, id, {
          commit,
          defaultBranch: attributes['default-branch'],
          changedFiles: attributes['changed-files'],
        });
        const sign = await loadUrlSigner(context, toSignedFor(head));
        const archives = [...wanted].map((kind) => ({
          'with-submodules': kind === 'with-submodules',
          'upload-url': sign('PUT', `/uploads/repository-archives/${id}/${kind}`),
        }));
        return {
          document: { data: { id, type: 'agent-repository-work', attributes: { archives } } },
        };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary:
        'End work at a repository, with the answer of the provider or the reason of a failure',
      body: { schema: END },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const given = body.data.attributes;
        const status = given['answer-status'];
        const end: WorkEnd =
          given.status === 'errored'
            ? {
                status: 'errored',
                message: given['error-message'] ?? 'the agent has given no reason',
                isFinal: given['is-final'] ?? false,
                workerDied: given['worker-died'] ?? false,
              }
            : {
                status: 'finished',
                answer:
                  status === undefined ? undefined : { status, text: given['answer-body'] ?? '' },
              };
        await endWork(context, principal, params.work_id, end);
        return undefined;
      },
    }),
  ]),
  signedRoute(context, 'agents', {
    method: 'PUT',
    path: '/uploads/repository-archives/:work_id/:kind',
    summary: 'Upload an archive of a commit',
    handle: async ({ params, body }) => {
      await uploadArchive(context, params.work_id, params.kind, body.chunks());
      return undefined;
    },
  }),
];
