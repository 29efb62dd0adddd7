/** The fields of how an authority serves EST. */
import { useSecret, useSecretList } from '../../api/queries.ts';
import { Details, Summary } from '../../components/details.tsx';
import { FieldSet, Input, Label, Pair, TextArea } from '../../components/fields.tsx';
import { Select } from '../../components/select.tsx';
import { Choice } from '../../editing/choice.tsx';
import { AUDIT_FIELDS, type EstValues } from './est-config.ts';

interface UiMounts {
  readonly auth?: Readonly<Record<string, { readonly type: string; readonly accessor: string }>>;
}

/** Mounts of the method that signs in by certificates, as choices of who may enroll. */
const useCertificateMethods = (): readonly (readonly [string, string])[] => {
  const { data } = useSecret<UiMounts>('sys/internal/ui/mounts');
  return Object.entries(data?.auth ?? {})
    .filter(([, { type }]) => type === 'cert')
    .map(([path, { accessor }]) => [accessor, `whoever may sign in at ${path}`] as const);
};

const Policies = ({ mount, values }: { mount: string; values: EstValues }) => {
  const { data } = useSecretList(`${mount}/roles`);
  const roles = data?.keys ?? [];
  return (
    <>
      <Label>
        Without a label
        <Select
          name="default_path_policy"
          value={values.default_path_policy}
          options={[
            ['', 'not served'],
            ['sign-verbatim', 'the request is signed as it is'],
            ...roles.map((role) => [`role:${role}`, `by the role ${role}`] as const),
          ]}
        />
      </Label>
      <Label>
        Labels: on each line a label, a space, and “role:NAME” or “sign-verbatim”
        <TextArea
          name="labels"
          isCode
          rows={3}
          spellCheck={false}
          placeholder="printers role:device"
          defaultValue={values.labels}
        />
      </Label>
    </>
  );
};

const Authentication = ({ values }: { values: EstValues }) => {
  const methods = useCertificateMethods();
  return (
    <FieldSet>
      <legend>Who may enroll</legend>
      <Choice name="takes_token" isTicked={values.takes_token}>
        Whoever sends a token as the password of HTTP Basic, as far as its policies allow
      </Choice>
      <Choice name="takes_certificate" isTicked={values.takes_certificate}>
        Whoever shows a certificate to the server
      </Choice>
      <Label>
        Certificates of these issuers, by id or name, one on each line (empty: all whose key is
        here)
        <TextArea name="issuers" isCode rows={2} spellCheck={false} defaultValue={values.issuers} />
      </Label>
      <Pair>
        <Label>
          And of these holders
          <Select name="accessor" value={values.accessor} options={[['', 'all'], ...methods]} />
        </Label>
        <Label>
          By this role of it (empty: any)
          <Input name="cert_role" autoComplete="off" defaultValue={values.cert_role} />
        </Label>
      </Pair>
    </FieldSet>
  );
};

export const EstFields = ({ mount, values }: { mount: string; values: EstValues }) => (
  <>
    <Choice name="enabled" isTicked={values.enabled}>
      Devices get certificates by EST
    </Choice>
    <Choice name="default_mount" isTicked={values.default_mount}>
      Requests without a label reach this authority; only one of the cluster can have them
    </Choice>
    <Policies mount={mount} values={values} />
    <Authentication values={values} />
    <Details hasFields>
      <Summary>Audit log</Summary>
      <FieldSet>
        <legend>Written of each request</legend>
        {AUDIT_FIELDS.map(([field, words]) => (
          <Choice key={field} name={field} isTicked={values[field]}>
            {words}
          </Choice>
        ))}
      </FieldSet>
    </Details>
  </>
);
