import { type ReactNode, useEffect, useState } from 'react';
import { CommandsOfPage, createCommandRegistry, TitleOfPart } from './command-registry.ts';
import { CommandsButton } from './commands-button.tsx';

export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Keelson`;
  }, [title]);
};

/** A page: its heading with actions, and its content. */
export const Page = (props: {
  title: string;
  /** Title of the window, when it differs from the heading. */
  windowTitle?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** Whether the heading and the actions stay in view. */
  isSticky?: boolean;
  children: ReactNode;
}) => {
  useTitle(props.windowTitle ?? props.title);
  const [commands] = useState(createCommandRegistry);
  return (
    <CommandsOfPage value={commands}>
      <TitleOfPart value={props.title}>
        <header className={props.isSticky === true ? 'page-head sticky' : 'page-head'}>
          <div>
            <h1>{props.title}</h1>
            {props.lead !== undefined && <p className="lead">{props.lead}</p>}
          </div>
          <div className="page-actions">
            {props.actions}
            <CommandsButton />
          </div>
        </header>
        {props.children}
      </TitleOfPart>
    </CommandsOfPage>
  );
};

export const Card = (props: { title?: string; actions?: ReactNode; children: ReactNode }) => (
  <section className="card">
    {props.title !== undefined && (
      <div className="card-head">
        <h2>{props.title}</h2>
        {props.actions !== undefined && <div className="page-actions">{props.actions}</div>}
      </div>
    )}
    {props.title === undefined ? (
      props.children
    ) : (
      <TitleOfPart value={props.title}>{props.children}</TitleOfPart>
    )}
  </section>
);

export const Empty = ({ children }: { children: ReactNode }) => <p className="empty">{children}</p>;

export const Problem = ({ children }: { children: ReactNode }) => (
  <p role="alert" className="problem">
    {children}
  </p>
);
