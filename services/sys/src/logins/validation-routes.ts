/** `sys/mfa/validate`: the second half of a login. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { RpcService } from '@keelson/rpc';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { FactorAnswers } from '../mfa/factor-operations.ts';
import { loginAuthBlock } from './login-document.ts';
import { finishLogin, type LoginContext } from './login-operations.ts';
import { MAX_PENDING_LOGIN } from './pending-login.ts';

/** Two passkeys, whose parts have limits of their own. */
const MAX_PAYLOAD = 32_768;

/** A passcode is a text. A passkey is an object, or its JSON for clients that send only texts. */
const isAnswers = (value: unknown): value is readonly (string | object)[] =>
  Array.isArray(value) &&
  value.every((one) => typeof one === 'string' || (typeof one === 'object' && one !== null));

/** @throws KeelsonError `request.invalid` */
const toAnswers = (payload: JsonObject): FactorAnswers['byMethod'] =>
  new Map(
    Object.entries(payload).map(([methodId, answers]) => {
      if (!isAnswers(answers))
        throw new KeelsonError('request.invalid', {
          text: 'mfa_payload has a list with one passcode or passkey for each id of a method',
        });
      const texts = answers.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
      return [methodId, texts] as const;
    }),
  );

export const loginValidationRoutes = (
  context: LoginContext,
  methods: RpcService<typeof AuthMethodsDefinition> | undefined,
): Route[] =>
  secretsRoutes({
    path: '/sys/mfa/validate',
    tag: 'login MFA',
    fields: {
      mfa_request_id: field.string({
        description: 'The id that the login was answered with.',
        required: true,
        maxLength: MAX_PENDING_LOGIN,
      }),
      mfa_payload: field.map({
        description:
          'A list with a passcode, or with a passkey as `PublicKeyCredential.toJSON()` of the browser has it, by the id of its method.',
        required: true,
        maxLength: MAX_PAYLOAD,
      }),
    },
    operations: {
      update: {
        summary: 'Finish a login that waits for a second factor',
        handle: async ({ fields, head, warnings }) => {
          const outcome = await finishLogin(context, methods, {
            id: fields.mfa_request_id,
            byMethod: toAnswers(fields.mfa_payload),
            remoteAddress: head.remoteAddress,
          });
          if (outcome.kind === 'token') warnings.push(...outcome.warnings);
          return { auth: await loginAuthBlock(context.tokens, outcome) };
        },
      },
    },
  });
