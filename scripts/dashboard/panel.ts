// The dashboard's panels, and the expressions that several of them share.

export interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly type?: "stat" | "timeseries";
  readonly unit?: string;
  /** In Grafana's grid of 24 columns. */
  readonly width: number;
  /** A value of 0 is red, any other green. */
  readonly isState?: boolean;
  /** Legend → expression. `SCOPE` is replaced by the job and instances that the viewer selected. */
  readonly targets: Readonly<Record<string, string>>;
}

/** Public requests on the wires that the viewer selected. */
export const requested = 'listener="public", wire=~"$wire", SCOPE';
export const failed = `${requested}, status=~"5..", status!="504"`;
export const rate = (metric: string, labels = "SCOPE"): string => `rate(${metric}{${labels}}[$__rate_interval])`;
export const quantile = (share: number, metric: string, by: string, labels = "SCOPE"): string =>
  `histogram_quantile(${share}, sum by (${by}) (${rate(`${metric}_bucket`, labels)}))`;
export const latency = (share: number, by = "le"): string =>
  quantile(share, "records_request_duration_seconds", by, requested);
export const perRequest = (metric: string): string =>
  `sum(${rate(metric)}) / sum(${rate("records_requests_total", requested)})`;

/** Title of a row → its panels. */
export type Rows = Readonly<Record<string, readonly Panel[]>>;
