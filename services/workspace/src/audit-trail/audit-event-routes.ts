import { edgeResponse, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  choice,
  endpoint,
  jsonApiRoutes,
  type Page,
  pageOf,
  parseFields,
  parseInclude,
  parsePage,
  parseTimestampMs,
  queryReader,
  timestamp,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { ServiceContext } from '../base/service-context.ts';
import { TRAIL, toEventResource, toTrail } from './audit-event-document.ts';
import { listEvents, listOwnEvents } from './audit-event-operations.ts';
import { RESOURCE_TYPES } from './domain/audit-event.ts';

const timeOf = (text: string | undefined): number | undefined =>
  text ? parseTimestampMs(text) : undefined;

const SINCE = { since: { description: 'Only events after this time.', schema: timestamp() } };
const readTrailQuery = queryReader(SINCE);

/** Events on a page that asks for no number, as at the hosted service. */
const TRAIL_PAGE = 1000;

const trailPage = (query: ReturnType<typeof readTrailQuery>): Page => ({
  number: parsePage(query).number,
  size: Math.min(Number(query.one('page', 'size') || TRAIL_PAGE), TRAIL_PAGE),
});

/** For whoever collects audit events: the token says whose. */
const trailRoute = (context: ServiceContext): Route => ({
  method: 'GET',
  path: '/organization/audit-trail',
  operation: () => ({
    tags: ['organizations'],
    summary: 'List the changes in the organization whose token the caller has, newest first',
    parameters: [
      { name: 'since', in: 'query', description: SINCE.since.description, schema: timestamp() },
      { name: 'page[number]', in: 'query', schema: Type.Integer({ minimum: 1 }) },
      {
        name: 'page[size]',
        in: 'query',
        schema: Type.Integer({ minimum: 1, maximum: TRAIL_PAGE, default: TRAIL_PAGE }),
      },
    ],
    responses: {
      200: { description: 'A page of events.', content: { 'application/json': { schema: TRAIL } } },
      default: { $ref: '#/components/responses/Refused' },
    },
  }),
  handle: async ({ head, query: given }) => {
    if (head.principal === undefined) throw new KeelsonError('jsonapi.unauthorized');
    const query = readTrailQuery(given);
    parseFields(query);
    parseInclude(query, {});
    query.requireKnown();
    const page = trailPage(query);
    const found = await listOwnEvents(context, head.principal, timeOf(query.one('since')), page);
    return edgeResponse(
      200,
      { 'content-type': 'application/json' },
      Buffer.from(JSON.stringify(toTrail(found, page))),
    );
  },
});

export const auditEventRoutes = (context: ServiceContext): Route[] => [
  trailRoute(context),
  ...jsonApiRoutes('organizations', [
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/audit-events',
      summary: 'List the changes in an organization, newest first',
      query: {
        'filter[actor]': {
          description: 'Name of a user, or the id of a user, a team, the organization or a run.',
        },
        'filter[resource_type]': {
          description: 'Types of the changed resources.',
          schema: Type.Array(choice(RESOURCE_TYPES)),
        },
        'filter[workspace]': {
          description: 'Name or id of the workspace that is changed, or holds what is changed.',
        },
        'filter[since]': { description: 'Only events after this time.', schema: timestamp() },
        'filter[until]': { description: 'Only events before this time.', schema: timestamp() },
      },
      answers: pageOf('audit-events'),
      handle: async ({ head, principal, params, query }) => {
        const page = parsePage(query);
        const filter = {
          actor: query.one('filter', 'actor'),
          resourceTypes: query.list('filter', 'resource_type'),
          workspace: query.one('filter', 'workspace'),
          afterMs: timeOf(query.one('filter', 'since')),
          beforeMs: timeOf(query.one('filter', 'until')),
        };
        const name = params.organization_name;
        const { events, totalCount } = await listEvents(context, principal, name, filter, page);
        const data = events.map(toEventResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount }) };
      },
    }),
  ]),
];
