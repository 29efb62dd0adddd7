import { Anchor } from '../components/anchor.tsx';
import { classes } from '../components/classes.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Details, Summary } from '../components/details.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import tableStyles from '../components/table.module.css';
import { Code, Hint, Lines, PageHeading, Under, Unseen } from '../components/text.tsx';
import {
  type ApiDescription,
  type Content,
  type ListedOperation,
  type Parameter,
  resolveAnswer,
  tagAnchor,
} from './api-description.ts';
import styles from './reference.module.css';
import { type Field, fieldsOf, typeOf } from './schema-fields.ts';

const Limits = ({ description, limits }: { description: string; limits: readonly string[] }) => (
  <>
    {description}
    {limits.length > 0 && <Under>{limits.join(' ')}</Under>}
  </>
);

const FieldTable = ({ caption, fields }: { caption: string; fields: readonly Field[] }) => (
  <table className={classes(tableStyles['table'], styles['fields'])}>
    <caption>
      <Unseen>{caption}</Unseen>
    </caption>
    <thead className={styles['heads']}>
      <tr>
        <th scope="col" className={tableStyles['head']}>
          Field
        </th>
        <th scope="col" className={tableStyles['head']}>
          Type
        </th>
        <th scope="col" className={tableStyles['head']}>
          Meaning
        </th>
      </tr>
    </thead>
    <tbody>
      {fields.map(({ path, type, isRequired, description, limits }) => (
        <tr key={path} className={classes(tableStyles['row'], styles['field'])}>
          <th scope="row" className={classes(tableStyles['name'], styles['cell'])}>
            <Code>{path}</Code>
            {isRequired && <Under>required</Under>}
          </th>
          <td className={classes(tableStyles['cell'], styles['cell'], styles['type'])}>{type}</td>
          <td className={classes(tableStyles['cell'], styles['cell'])}>
            <Limits description={description} limits={limits} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const toField = ({ name, in: place, required, description, schema = {} }: Parameter): Field => ({
  path: name,
  type: `${typeOf(schema)}, in the ${place}`,
  isRequired: required === true,
  description: description ?? '',
  limits: fieldsOf({ properties: { [name]: schema } }, {})[0]?.limits ?? [],
});

const Example = ({ value, label }: { value: unknown; label: string }) => {
  const text = JSON.stringify(value, null, 2);
  return (
    <figure className={styles['example']}>
      <figcaption className={styles['caption']}>
        Example <CopyButton text={text} label={`Copy the example of ${label}`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <Lines className={styles['json']} tabIndex={0}>
        {text}
      </Lines>
    </figure>
  );
};

/** The media types of a body or answer, with fields and example of those that have them. */
const Bodies = (props: { content: Content; label: string; api: ApiDescription }) => {
  const { content, label, api } = props;
  return Object.entries(content).map(([type, { schema, examples }]) => {
    const fields = schema === undefined ? [] : fieldsOf(schema, api.components.schemas ?? {});
    const example = Object.values(examples ?? {})[0];
    return (
      <div key={type}>
        <p>
          <Code>{type}</Code>
          {schema !== undefined && fields.length === 0 && `: ${typeOf(schema)}`}
        </p>
        {example !== undefined && <Example value={example.value} label={label} />}
        {fields.length > 0 && (
          <Details open={label === 'the request'}>
            <Summary>
              {fields.length} {fields.length === 1 ? 'field' : 'fields'}
            </Summary>
            <FieldTable caption={`Fields of ${label}, ${type}`} fields={fields} />
          </Details>
        )}
      </div>
    );
  });
};

const statusText = (status: string): string =>
  status === 'default' ? 'Other statuses' : `Status ${status}`;

/** One operation: how it is called, what it takes, and what it answers. */
export const OperationView = ({
  listed,
  api,
}: {
  listed: ListedOperation;
  api: ApiDescription;
}) => {
  const { methods, path, operation } = listed;
  const { parameters = [], requestBody, tags = [], security } = operation;
  return (
    <>
      <nav aria-label="Place" className={styles['place']}>
        <Anchor href="#">{api.info.title}</Anchor>
        {tags.map((tag) => (
          <span key={tag}>
            {' / '}
            <Anchor href={`#${tagAnchor(tag)}`}>{tag}</Anchor>
          </span>
        ))}
      </nav>
      <PageHeading className={styles['heading']} tabIndex={-1}>
        {operation.summary}
      </PageHeading>
      <p className={styles['call']}>
        {methods.map((method) => (
          <Pill key={method} tone="accent">
            {method}
          </Pill>
        ))}
        <Code>
          {api.servers[0]?.url}
          {path}
        </Code>
      </p>
      {operation.deprecated === true && <Hint>Deprecated.</Hint>}
      {operation.description !== undefined && <p>{operation.description}</p>}
      {security?.length === 0 && <Hint>Needs no token.</Hint>}
      {parameters.length > 0 && (
        <Card title="Parameters">
          <FieldTable caption="Parameters" fields={parameters.map(toField)} />
        </Card>
      )}
      {requestBody !== undefined && (
        <Card title={requestBody.required === true ? 'Body, required' : 'Body'}>
          <Bodies content={requestBody.content} label="the request" api={api} />
        </Card>
      )}
      {Object.entries(operation.responses).map(([status, answer]) => {
        const { description, content = {} } = resolveAnswer(answer, api);
        const title = statusText(status);
        return (
          <Card key={status} title={title}>
            {description === undefined ? <Empty>No description.</Empty> : <p>{description}</p>}
            <Bodies content={content} label={title.toLowerCase()} api={api} />
          </Card>
        );
      })}
    </>
  );
};
