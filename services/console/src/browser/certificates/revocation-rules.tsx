/** The rules by which an authority publishes what is revoked: `config/crl` with all its settings. */
import { vaultCommand } from '../components/commands.tsx';
import { FieldSet, Input, Label } from '../components/fields.tsx';
import { Lifetime } from '../components/lifetime.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';

/** Durations are texts such as "72h". */
export interface CrlConfig {
  readonly expiry: string;
  readonly disable: boolean;
  readonly auto_rebuild: boolean;
  readonly auto_rebuild_grace_period: string;
  readonly enable_delta: boolean;
  readonly delta_rebuild_interval: string;
  /** -1 without a limit. */
  readonly max_crl_entries: number;
  readonly allow_expired_cert_revocation: boolean;
  readonly ocsp_disable: boolean;
  readonly ocsp_expiry: string;
  readonly cross_cluster_revocation: boolean;
  readonly unified_crl: boolean;
  readonly unified_crl_on_existing_paths: boolean;
}

/** The values of the form, which asks what is on where the setting says what is off. */
const valuesOf = ({ disable, ocsp_disable, max_crl_entries: most, ...config }: CrlConfig) => ({
  ...config,
  is_listed: !disable,
  is_ocsp_answered: !ocsp_disable,
  max_crl_entries: String(most),
});

type Rules = ReturnType<typeof valuesOf>;

const bodyOf = ({
  is_listed: isListed,
  is_ocsp_answered: isAnswered,
  max_crl_entries: most,
  ...changed
}: Partial<Rules>): object => ({
  ...changed,
  ...(isListed !== undefined && { disable: !isListed }),
  ...(isAnswered !== undefined && { ocsp_disable: !isAnswered }),
  ...(most !== undefined && { max_crl_entries: Number(most) }),
});

const Lists = ({ values }: { values: Rules }) => (
  <FieldSet>
    <legend>Revocation lists (CRL)</legend>
    <Choice name="is_listed" isTicked={values.is_listed}>
      Lists name revoked certificates (off: they are empty)
    </Choice>
    <Lifetime name="expiry" required label="A list is valid for" value={values.expiry} />
    <Choice name="auto_rebuild" isTicked={values.auto_rebuild}>
      Rebuild lists before they expire, not at each revocation
    </Choice>
    <Lifetime
      name="auto_rebuild_grace_period"
      required
      label="Rebuild before the end of validity by"
      value={values.auto_rebuild_grace_period}
    />
    <Choice name="enable_delta" isTicked={values.enable_delta}>
      Publish delta lists between two rebuilds
    </Choice>
    <Lifetime
      name="delta_rebuild_interval"
      required
      label="Build a delta list every"
      value={values.delta_rebuild_interval}
    />
    <Label>
      Maximum entries of a list (-1: no limit)
      <Input
        name="max_crl_entries"
        type="number"
        min="-1"
        required
        defaultValue={values.max_crl_entries}
      />
    </Label>
    <Choice name="allow_expired_cert_revocation" isTicked={values.allow_expired_cert_revocation}>
      Expired certificates can be revoked
    </Choice>
  </FieldSet>
);

const Answers = ({ values }: { values: Rules }) => (
  <FieldSet>
    <legend>OCSP answers</legend>
    <Choice name="is_ocsp_answered" isTicked={values.is_ocsp_answered}>
      Answer OCSP requests
    </Choice>
    <Lifetime
      name="ocsp_expiry"
      required
      label="An OCSP answer is valid for (0: not stated)"
      value={values.ocsp_expiry}
    />
  </FieldSet>
);

const Clusters = ({ values }: { values: Rules }) => (
  <FieldSet>
    <legend>Several clusters</legend>
    <Choice name="cross_cluster_revocation" isTicked={values.cross_cluster_revocation}>
      Revoke certificates of other clusters here
    </Choice>
    <Choice name="unified_crl" isTicked={values.unified_crl}>
      Publish a unified list of all clusters
    </Choice>
    <Choice name="unified_crl_on_existing_paths" isTicked={values.unified_crl_on_existing_paths}>
      Serve the unified list at the addresses of this cluster&apos;s list
    </Choice>
  </FieldSet>
);

/** @param path of `config/crl` in the authority */
export const EditRules = ({ path }: { path: string }) => (
  <EditButton
    edits="revocation-rules"
    label="Change the rules"
    title="How revocation is published"
    target={secretTarget<CrlConfig>(path)}
    valuesOf={valuesOf}
    bodyOf={bodyOf}
    fields={(values) => (
      <>
        <Lists values={values} />
        <Answers values={values} />
        <Clusters values={values} />
      </>
    )}
    commands={(body) => [
      vaultCommand(
        `vault write ${path} ${Object.entries(body)
          .map(([name, value]) => `${name}=${String(value)}`)
          .join(' ')}`.trim(),
      ),
    ]}
  />
);
