export {
  type Answer,
  createSecretsErrorRenderer,
  envelopeWarnings,
  type FinalAnswer,
  listedKeys,
  mirrored,
  rawResponse,
  renderSecretsError,
  topLevel,
} from './answers.ts';
export { isJsonObject, type JsonObject, type Timestamp } from './coercions.ts';
export { dialectRules } from './dialects.ts';
export { parseDurationMs, parseDurationSeconds } from './duration.ts';
export {
  type Field,
  type FieldOptions,
  type Fields,
  type FieldValues,
  field,
  type PartialFieldValues,
  propertiesOf,
  readFields,
} from './fields.ts';
export { type PageChoice, pageOf } from './list-pages.ts';
export { mergePatch, mergePatchObject } from './merge-patch.ts';
export { secretsComponents } from './openapi.ts';
export {
  ACCEPTED,
  type DescribedAnswer,
  type Operation,
  type OperationContext,
  type Operations,
  type Result,
} from './operations.ts';
export { readBody, readQuery } from './request-data.ts';
export { type SecretsRoutes, secretsRoutes } from './routes.ts';
