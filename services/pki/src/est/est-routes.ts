/**
 * EST below a mount. `est/…` is for the default path policy, `roles/:role/est/…` and `sign-verbatim/est/…`
 * for theirs, with a token that has access. `est/by-certificate/…` is for clients of /.well-known/est
 * with a certificate and no token: they choose a label, never a policy.
 */

import {
  allowHeader,
  type EdgeResponse,
  edgeResponse,
  type Route,
  type RouteExchange,
} from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { auditedRequest } from './audited-request.ts';
import { clientCertificateOf } from './client-certificate.ts';
import { readEnrolmentBody } from './domain/enrolment-request.ts';
import {
  type EstConfig,
  findPathPolicy,
  noPathPolicy,
  type PathPolicy,
} from './domain/est-config.ts';
import {
  caCertificates,
  csrAttributes,
  type EnrolmentScope,
  type EstParts,
  enroll,
  enrollByCertificate,
  reenroll,
  requireClientCertificate,
  type ShownCertificate,
} from './enrolment-operations.ts';
import { loadEstConfig } from './est-config-records.ts';

const MAX_BODY_BYTES = 256 * 1024;

const PKCS7 = 'application/pkcs7-mime';
const ATTRIBUTES = 'application/csrattrs';

const describe = (summary: string) => ({
  summary,
  tags: ['EST'],
  responses: {
    200: { description: 'DER in base64.', content: { [PKCS7]: {}, [ATTRIBUTES]: {} } },
    204: { description: 'Requests may have any attributes.' },
    default: {
      description: 'The reason in plain text; JSON of /v1 if the mount serves no EST.',
      content: { 'text/plain': {}, 'application/json': {} },
    },
  },
});

/**
 * In lines of PEM's length that end in LF, because command-line decoders of base64 stop at a CR, or require
 * lines. RFC 8951 §3.1 made the Content-Transfer-Encoding header unnecessary, but clients of RFC 7030 look
 * for it.
 */
const base64Answer = (
  contentType: string,
  der: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): EdgeResponse =>
  edgeResponse(
    200,
    { 'content-type': contentType, 'content-transfer-encoding': 'base64', ...headers },
    Buffer.from(
      Buffer.from(der)
        .toString('base64')
        .replaceAll(/.{1,64}/g, '$&\n'),
    ),
  );

const CERTS_ONLY = `${PKCS7}; smime-type=certs-only`;

/** Which configuration and policy a request is under. */
interface Enrolment extends EnrolmentScope {
  readonly config: EstConfig;
}

type FindPolicy = (exchange: RouteExchange, config: EstConfig) => PathPolicy | undefined;

const DEFAULT_POLICY: FindPolicy = (_, config) => findPathPolicy(config, '');
const ROLE_POLICY: FindPolicy = ({ params }) => ({ kind: 'role', role: params['role'] ?? '' });
const VERBATIM_POLICY: FindPolicy = () => ({ kind: 'sign-verbatim' });
const LABEL_POLICY: FindPolicy = ({ params }, config) =>
  findPathPolicy(config, params['label'] ?? '');

/** RFC 7030 §4.2.3: errors are plain text. */
const refusalInPlainText = (error: KeelsonError): EdgeResponse =>
  edgeResponse(
    error.httpStatus,
    {
      'content-type': 'text/plain; charset=utf-8',
      // RFC 9110 §11.6.1
      ...(error.httpStatus === 401 && { 'www-authenticate': 'Basic realm="est"' }),
      ...allowHeader(error),
    },
    Buffer.from(`${error.message}\n`),
  );

const inPlainText =
  (handle: (exchange: RouteExchange) => Promise<EdgeResponse>) =>
  async (exchange: RouteExchange): Promise<EdgeResponse> => {
    try {
      return await handle(exchange);
    } catch (thrown) {
      const error = KeelsonError.from(thrown);
      if (error.code === 'internal' || error.httpStatus >= 500) throw thrown;
      return refusalInPlainText(error);
    }
  };

const PKCS10 = 'application/pkcs10';

const readRequest = async ({ head, body }: RouteExchange) => {
  const type = (head.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type !== '' && type !== PKCS10)
    throw new KeelsonError('request.unsupported_media_type', {
      text: `the content type must be ${PKCS10}`,
    });
  return readEnrolmentBody(await body.bytes(MAX_BODY_BYTES));
};

export const estRoutes = (parts: EstParts): Route[] => {
  const findEnrolment = async (
    exchange: RouteExchange,
    findPolicy: FindPolicy,
  ): Promise<Enrolment> => {
    const mount = requireMount(exchange.head);
    const config = await loadEstConfig(parts.store, mount);
    if (!config.enabled) throw new KeelsonError('pki.est_disabled');
    const policy = findPolicy(exchange, config);
    if (policy === undefined) throw noPathPolicy(exchange.params['label'] ?? '');
    return { mount, config, policy };
  };

  const read =
    (findPolicy: FindPolicy, serve: (enrolment: Enrolment) => Promise<EdgeResponse>) =>
    async (exchange: RouteExchange): Promise<EdgeResponse> =>
      serve(await findEnrolment(exchange, findPolicy));

  const readCertificates = async (enrolment: Enrolment): Promise<EdgeResponse> =>
    base64Answer(PKCS7, await caCertificates(parts, enrolment));

  const readAttributes = async (enrolment: Enrolment): Promise<EdgeResponse> => {
    const attributes = await csrAttributes(parts, enrolment);
    return attributes === undefined ? edgeResponse(204) : base64Answer(ATTRIBUTES, attributes);
  };

  /** The client of a request without a token: its certificate, which must be accepted. */
  const authenticate = async (enrolment: Enrolment, shown: ShownCertificate | undefined) => {
    const { config } = enrolment;
    if (shown === undefined || config.certificate === undefined)
      throw new KeelsonError('pki.est_unauthenticated', {
        needed: 'a certificate of the TLS client',
      });
    const origin = await requireClientCertificate(parts, enrolment, config, shown);
    return { origin, certificate: shown.certificate };
  };

  /** @param isByCertificate no token is required: the client's certificate authenticates it */
  const post =
    (operation: 'enroll' | 'reenroll', findPolicy: FindPolicy, isByCertificate: boolean) =>
    async (exchange: RouteExchange): Promise<EdgeResponse> => {
      const enrolment = await findEnrolment(exchange, findPolicy);
      const { config } = enrolment;
      const shown = clientCertificateOf(exchange.head);
      const client = isByCertificate ? await authenticate(enrolment, shown) : undefined;
      const { der, csr } = await readRequest(exchange);
      const request = { ...enrolment, der, csr };
      const enrollClient = () =>
        client === undefined
          ? enroll(parts, request)
          : enrollByCertificate(parts, request, client.origin, client.certificate);
      const message =
        operation === 'enroll'
          ? await enrollClient()
          : await reenroll(parts, request, config, shown);
      return base64Answer(CERTS_ONLY, message, auditedRequest(config.auditFields, csr, der));
    };

  const route = (
    method: 'GET' | 'POST',
    path: string,
    summary: string,
    handle: (exchange: RouteExchange) => Promise<EdgeResponse>,
  ): Route => ({
    method,
    path,
    operation: () => describe(summary),
    handle: inPlainText(handle),
    refuse: (error) => Promise.resolve(refusalInPlainText(error)),
  });

  const POSTS = [
    ['simpleenroll', 'enroll', 'Enroll by EST'],
    ['simplereenroll', 'reenroll', 'Renew by EST'],
  ] as const;

  const served = [
    ['/est', DEFAULT_POLICY],
    ['/roles/:role/est', ROLE_POLICY],
    ['/sign-verbatim/est', VERBATIM_POLICY],
  ] as const;
  const byCertificate = [
    ['/est/by-certificate', DEFAULT_POLICY],
    ['/est/by-certificate/:label', LABEL_POLICY],
  ] as const;
  return [
    ...served.flatMap(([path, policy]) => [
      route('GET', `${path}/cacerts`, 'CA certificates', read(policy, readCertificates)),
      route(
        'GET',
        `${path}/csrattrs`,
        'Show the attributes that requests need',
        read(policy, readAttributes),
      ),
      ...POSTS.map(([name, kind, summary]) =>
        route('POST', `${path}/${name}`, summary, post(kind, policy, false)),
      ),
    ]),
    ...byCertificate.flatMap(([path, policy]) =>
      POSTS.map(([name, kind, summary]) =>
        route('POST', `${path}/${name}`, `${summary} with a certificate`, post(kind, policy, true)),
      ),
    ),
  ];
};
