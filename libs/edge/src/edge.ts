export type { AnswerExample, AnswerExamples } from './answer-examples.ts';
export { type CachingService, cacheResponses } from './caching-service.ts';
export {
  CLIENT_CERTIFICATE,
  CLIENT_CERTIFICATE_CHAIN,
  clientCertificateHeaders,
  clientCertificatesOf,
  parseClientCertificates,
} from './client-certificates.ts';
export { COMMAND_LOGIN } from './command-login.ts';
export { bufferedBody, inTurns } from './edge-body.ts';
export {
  type EdgeBody,
  type EdgeRequest,
  type EdgeResponse,
  type EdgeService,
  edgeResponse,
} from './edge-service.ts';
export { parseJson } from './json-text.ts';
export { allowHeader, type EdgeMethod, isEdgeMethod, methodRefused } from './methods.ts';
export { type OpenApiDocument, toOpenApiDocument } from './openapi-document.ts';
export { JSON_API_LIMITS, SECRETS_LIMITS } from './request-limits.ts';
export { decodePath } from './request-path.ts';
export { retryHeader } from './retry-header.ts';
export {
  createEdgeService,
  type EdgeServiceOptions,
  type Route,
  type RouteExchange,
} from './router.ts';
