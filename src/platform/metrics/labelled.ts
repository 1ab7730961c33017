/** A metric of prom-client, as far as its children are used here. */
interface Labelled<Child> {
  labels(...values: string[]): Child;
}

/**
 * The children of a metric with one label or two, by the values of the labels. Each is looked up once and kept, because
 * a look-up costs more than counting. Only for labels with few values.
 */
export function childrenOf<Child>(metric: Labelled<Child>): (one: string, two?: string) => Child {
  const kept = new Map<string, Map<string | undefined, Child>>();
  return (one, two) => {
    let within = kept.get(one);
    if (within === undefined) {
      within = new Map();
      kept.set(one, within);
    }
    let child = within.get(two);
    if (child === undefined) {
      child = two === undefined ? metric.labels(one) : metric.labels(one, two);
      within.set(two, child);
    }
    return child;
  };
}
