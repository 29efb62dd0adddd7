export { bufferedBody } from './edge-body.ts';
export {
  type EdgeBody,
  type EdgeRequest,
  type EdgeResponse,
  type EdgeService,
  edgeResponse,
} from './edge-service.ts';
export { parseJson } from './json-text.ts';
export { allowHeader, type EdgeMethod, isEdgeMethod, methodRefused } from './methods.ts';
export { RememberedAnswers, type StandingResponse } from './remembered-answers.ts';
export { type RepeatingService, repeatAnswers } from './repeated-answers.ts';
export { JSON_API_LIMITS, SECRETS_LIMITS } from './request-limits.ts';
export { decodePath } from './request-path.ts';
export {
  createEdgeService,
  type EdgeServiceOptions,
  type Route,
  type RouteExchange,
} from './router.ts';
