import { type ReactNode, useEffect } from 'react';

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
  return (
    <>
      <header className={props.isSticky === true ? 'page-head sticky' : 'page-head'}>
        <div>
          <h1>{props.title}</h1>
          {props.lead !== undefined && <p className="lead">{props.lead}</p>}
        </div>
        {props.actions !== undefined && <div className="page-actions">{props.actions}</div>}
      </header>
      {props.children}
    </>
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
    {props.children}
  </section>
);

export const Empty = ({ children }: { children: ReactNode }) => <p className="empty">{children}</p>;

export const Problem = ({ children }: { children: ReactNode }) => (
  <p role="alert" className="problem">
    {children}
  </p>
);
