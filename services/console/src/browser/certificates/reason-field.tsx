/** The reason of a revocation, which lists and OCSP answers give (RFC 5280 §5.3.1). */
import { Label, SelectField } from '../components/fields.tsx';

const REASONS = {
  unspecified: 'not stated',
  keyCompromise: 'its key may be known to others: the key is never certified again',
  affiliationChanged: 'its subject has another name or has left',
  superseded: 'another certificate replaces it',
  cessationOfOperation: 'it is no longer needed',
  privilegeWithdrawn: 'its holder may no longer have it',
  cACompromise: 'the key of the authority that it certifies may be known to others',
} as const;

/** A field named "reason". */
export const ReasonField = () => (
  <Label>
    Reason
    <SelectField name="reason">
      {Object.entries(REASONS).map(([reason, words]) => (
        <option key={reason} value={reason}>
          {words}
        </option>
      ))}
    </SelectField>
  </Label>
);
