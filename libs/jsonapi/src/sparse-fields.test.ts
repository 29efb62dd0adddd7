/**
 * | query | effect |
 * | --- | --- |
 * | `fields[type]=a,b` | attributes and relationships of that type are a and b alone, in data and included |
 * | `fields[type]=` | none of them |
 * | a field that the type does not have | a warning |
 * | a type that the document does not have | a warning |
 * | a type that no resource has | 400 |
 */

import { bufferedBody, createEdgeService } from '@keelson/edge';
import { Principal, RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { many, one } from './answer-schema.ts';
import { type Resource, toOne } from './document.ts';
import { endpoint } from './endpoint.ts';
import { createErrorRenderer } from './error-document.ts';
import { relatedOne, resourceSchema } from './resource-schema.ts';
import { jsonApiRoutes } from './routes.ts';

resourceSchema({
  type: 'workspaces',
  attributes: { name: Type.String(), 'created-at': Type.String(), locked: Type.Boolean() },
  relationships: { 'current-run': relatedOne('runs'), project: relatedOne('projects') },
});

const workspace: Resource<'workspaces'> = {
  id: 'ws-1',
  type: 'workspaces',
  attributes: { name: 'app', 'created-at': 'now', locked: false },
  relationships: { 'current-run': toOne('runs', 'run-1'), project: toOne('projects', 'prj-1') },
  links: { self: '/workspaces/ws-1' },
};
const run: Resource = { id: 'run-1', type: 'runs', attributes: { status: 'applied', message: '' } };

const service = createEdgeService({
  service: 'sample',
  version: '1',
  pathPrefix: '/api/v2',
  routes: jsonApiRoutes('samples', [
    endpoint({
      method: 'GET',
      path: '/one',
      summary: 'Show one',
      answers: one('workspaces', { includes: { current_run: ['runs'] } }),
      handle: () => Promise.resolve({ document: { data: workspace, included: [run] } }),
    }),
    endpoint({
      method: 'GET',
      path: '/several',
      summary: 'List several',
      answers: many('workspaces'),
      handle: () => Promise.resolve({ document: { data: [workspace], meta: { kept: true } } }),
    }),
  ]),
  renderError: createErrorRenderer(() => undefined),
});

const get = async (path: string, query: string) => {
  const response = await service.handle({
    head: messageOf(RequestHead, {
      method: 'GET',
      path,
      query,
      principal: messageOf(Principal, { kind: 'user', id: 'user-1' }),
    }),
    body: bufferedBody(new Uint8Array()),
    signal: new AbortController().signal,
  });
  return {
    status: response.head.status,
    document: JSON.parse(Buffer.from(response.body as Uint8Array).toString()),
  };
};

test('named fields remain, of the types that are named', async () => {
  const { document } = await get(
    '/one',
    'fields[workspaces]=name,current_run,colour&fields[runs]=',
  );
  expect(document).toEqual({
    data: {
      id: 'ws-1',
      type: 'workspaces',
      attributes: { name: 'app' },
      relationships: { 'current-run': { data: { id: 'run-1', type: 'runs' } } },
      links: { self: '/workspaces/ws-1' },
    },
    included: [{ id: 'run-1', type: 'runs', attributes: {} }],
    meta: {
      warnings: ['fields[workspaces] has names that no resource of the type has: colour'],
    },
  });
});

test('other types keep theirs, in lists too', async () => {
  const { document } = await get('/several', 'fields%5Bruns%5D=status');
  expect(document).toEqual({
    data: [workspace],
    meta: {
      kept: true,
      warnings: ['fields[runs] has no effect: the document has workspaces'],
    },
  });
  const restricted = await get('/several', 'fields[workspaces]=locked');
  expect(restricted.document.data[0].attributes).toEqual({ locked: false });
});

test('a type that no resource has is refused', async () => {
  const { status, document } = await get('/one', 'fields[workspace]=name');
  expect([status, document.errors[0].detail, document.errors[0].source]).toEqual([
    400,
    'Invalid fields parameter: workspace is not a resource type',
    { parameter: 'fields[workspace]' },
  ]);
});
