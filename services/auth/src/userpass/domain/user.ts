/** People with a password of their own. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { tokenSettingsShape } from '../../logins/domain/token-settings.ts';

export const userShape = Type.Object({
  /** Argon2id in PHC form, with its salt and cost. */
  passwordHash: Type.String(),
  token: tokenSettingsShape,
});
export type User = Shaped<typeof userShape>;
