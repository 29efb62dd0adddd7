/** A request of the console has the tokens of its session, which it does not carry by itself. */
import type { onRequestAsyncHookHandler } from 'fastify';
import { openSession, presentedTokens, sessionKeyOf } from './session-cookie.ts';

export const presentSession: onRequestAsyncHookHandler = async ({ raw: { headers } }) => {
  const key = sessionKeyOf(headers);
  if (key === undefined) return;
  const presented = presentedTokens(headers);
  if (presented.service !== undefined || presented.api !== undefined) return;
  const { service, api } = await openSession(key, headers);
  if (service !== undefined) headers['x-service-token'] = service;
  if (api !== undefined) headers.authorization = `Bearer ${api}`;
};
