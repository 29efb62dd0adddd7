export { metaWarnings } from './added-warning.ts';
export { type AnswerSchema, type Includes, many, one, oneOrNone, pageOf } from './answer-schema.ts';
export {
  type DocumentData,
  type IncludedResources,
  type JsonApiDocument,
  type Relationship,
  type Resource,
  type ResourceIdentifier,
  toMany,
  toOne,
  withLinkage,
  withWarnings,
} from './document.ts';
export {
  type Answer,
  API_PREFIX,
  type DocumentAnswer,
  type Endpoint,
  endpoint,
  type JsonApiExchange,
  openEndpoint,
} from './endpoint.ts';
export {
  createErrorRenderer,
  invalidAttribute,
  invalidParameter,
  refuseInvalid,
  type Violation,
} from './error-document.ts';
export { isResourceId, newResourceId } from './identifiers.ts';
export { parseInclude } from './include.ts';
export { jsonApiComponents, refused } from './openapi.ts';
export { itemsOn, type Page, parsePage, toPaginatedDocument } from './pagination.ts';
export type { ParamsOf } from './path-parameters.ts';
export {
  FLAG,
  type QueryParameter,
  type QueryParameters,
  type QuerySchema,
  queryReader,
  sortedBy,
  TEXTS,
} from './query.ts';
export {
  type CheckTexts,
  fixedType,
  nullable,
  requireSameId,
  resourceBody,
  resourceListBody,
} from './request-body.ts';
export {
  type AttributesOf,
  choice,
  dictionary,
  flags,
  optionalRelationship,
  orNull,
  type RelationshipSchema,
  type RelationshipSchemas,
  type RelationshipsOf,
  type ResourceOf,
  type ResourceSchema,
  relatedLink,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
} from './resource-schema.ts';
export type { ResourceType } from './resource-types.ts';
export { jsonApiRoutes } from './routes.ts';
export { parseSort } from './sort.ts';
export { parseFields } from './sparse-fields.ts';
export { parseTimestampMs, toTimestamp } from './timestamp.ts';
export { type UnsupportedFields, warnOfUnsupported } from './unsupported-fields.ts';
