/** Attempts at work at providers that have begun, and whose end nobody has reported. */
import { collection } from '@keelson/storage';
import { nullable } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Organization id; the name of the work. */
export const unendedAttempts = collection('repository-attempts', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    /** Counted before each of them begins. */
    deaths: Type.Number(),
    /** That of the event; null for a connection. */
    deliveryKey: nullable(Type.String()),
  }),
});
