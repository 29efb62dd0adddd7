/** Why a passkey is not accepted. Services translate it into the errors of their dialect. */

export type RefusalReason =
  | 'malformed'
  | 'relying-party'
  | 'origin'
  | 'challenge'
  | 'used'
  | 'user-presence'
  | 'user-verification'
  | 'algorithm'
  | 'attestation'
  | 'user'
  | 'sign-count'
  | 'signature';

/** The message says what is wrong, without what the caller has sent. */
export class PasskeyRefusal extends Error {
  readonly reason: RefusalReason;
  /** Path of the field within the credential, such as `response.clientDataJSON`. */
  readonly field: string;

  constructor(reason: RefusalReason, field: string, message: string) {
    super(message);
    this.reason = reason;
    this.field = field;
  }
}
