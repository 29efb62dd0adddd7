/** `sys/mfa/validate`: the second half of a login. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { RpcService } from '@keelson/rpc';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { Passcodes } from '../mfa/passcode-operations.ts';
import { loginAuthBlock } from './login-document.ts';
import { finishLogin, type LoginContext } from './login-operations.ts';

const MAX_ID = 65_536;
const MAX_PAYLOAD = 4096;

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** @throws KeelsonError `request.invalid` */
const toPasscodes = (payload: JsonObject): Passcodes =>
  new Map(
    Object.entries(payload).map(([methodId, passcodes]) => {
      if (!isTexts(passcodes))
        throw new KeelsonError('request.invalid', {
          text: 'mfa_payload has a list with one passcode for each id of a method',
        });
      return [methodId, passcodes] as const;
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
        maxLength: MAX_ID,
      }),
      mfa_payload: field.map({
        description: 'A list with a passcode, by the id of its method.',
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
            passcodes: toPasscodes(fields.mfa_payload),
            remoteAddress: head.remoteAddress,
          });
          if (outcome.kind === 'token') warnings.push(...outcome.warnings);
          return { auth: await loginAuthBlock(context.tokens, outcome) };
        },
      },
    },
  });
