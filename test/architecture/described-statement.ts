import type { Client, Connection, FieldDef, Submittable } from 'pg';

interface DescribedStatement {
  readonly params: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Prepares a statement without running it, and returns what PostgreSQL says about it. Rejects with its error. */
export async function describeStatement(client: Client, text: string): Promise<DescribedStatement> {
  const { params, fields } = await new Promise<{ params: number[]; fields: FieldDef[] }>(
    (resolve, reject) => {
      const wire = (client as unknown as { connection: Connection }).connection;
      const told = { params: [] as number[], fields: [] as FieldDef[] };
      wire.on('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
        told.params = dataTypeIDs;
      });
      const query = {
        submit(connection: Connection) {
          connection.parse({ name: '', text, types: [] }, true);
          connection.describe({ type: 'S', name: '' }, true);
          connection.sync();
        },
        handleRowDescription: ({ fields }: { fields: FieldDef[] }) => {
          told.fields = fields;
        },
        // The driver drops a failed query without telling it that it has ended.
        handleError: (error: Error) => {
          wire.removeAllListeners('parameterDescription');
          reject(new Error(`${error.message}: ${text}`));
        },
        handleReadyForQuery: () => {
          wire.removeAllListeners('parameterDescription');
          resolve(told);
        },
      };
      client.query(query as unknown as Submittable);
    },
  );
  const ids = [...params, ...fields.map(({ dataTypeID }) => dataTypeID)];
  const { rows } = await client.query<{ type: string }>(
    'SELECT format_type(oid::oid, NULL) AS type FROM unnest($1::int8[]) WITH ORDINALITY AS given (oid, place) ORDER BY place',
    [ids],
  );
  const types = rows.map(({ type }) => type);
  return {
    params: types.slice(0, params.length),
    columns: fields.map(({ name }, at) => ({ name, type: types[params.length + at]! })),
  };
}
