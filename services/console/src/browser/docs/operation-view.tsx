import { CopyButton } from '../components/copy-button.tsx';
import { Card, Empty } from '../components/page.tsx';
import {
  type ApiDescription,
  type Content,
  type ListedOperation,
  type Parameter,
  resolveAnswer,
  tagAnchor,
} from './api-description.ts';
import { type Field, fieldsOf, typeOf } from './schema-fields.ts';

const Limits = ({ description, limits }: { description: string; limits: readonly string[] }) => (
  <>
    {description}
    {limits.length > 0 && <span className="hint under">{limits.join(' ')}</span>}
  </>
);

const FieldTable = ({ caption, fields }: { caption: string; fields: readonly Field[] }) => (
  <table className="fields">
    <caption className="unseen">{caption}</caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Type</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      {fields.map(({ path, type, isRequired, description, limits }) => (
        <tr key={path}>
          <th scope="row">
            <code>{path}</code>
            {isRequired && <span className="hint under">required</span>}
          </th>
          <td>{type}</td>
          <td>
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
    <figure className="example">
      <figcaption>
        Example <CopyButton text={text} label={`Copy the example of ${label}`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <pre tabIndex={0}>{text}</pre>
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
          <code>{type}</code>
          {schema !== undefined && fields.length === 0 && `: ${typeOf(schema)}`}
        </p>
        {example !== undefined && <Example value={example.value} label={label} />}
        {fields.length > 0 && (
          <details open={label === 'the request'}>
            <summary>
              {fields.length} {fields.length === 1 ? 'field' : 'fields'}
            </summary>
            <FieldTable caption={`Fields of ${label}, ${type}`} fields={fields} />
          </details>
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
      <nav aria-label="Place" className="hint">
        <a href="#">{api.info.title}</a>
        {tags.map((tag) => (
          <span key={tag}>
            {' / '}
            <a href={`#${tagAnchor(tag)}`}>{tag}</a>
          </span>
        ))}
      </nav>
      <h1 tabIndex={-1}>{operation.summary}</h1>
      <p className="call">
        {methods.map((method) => (
          <span key={method} className="pill accent">
            {method}
          </span>
        ))}
        <code>
          {api.servers[0]?.url}
          {path}
        </code>
      </p>
      {operation.deprecated === true && <p className="hint">Deprecated.</p>}
      {operation.description !== undefined && <p>{operation.description}</p>}
      {security?.length === 0 && <p className="hint">Needs no token.</p>}
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
