/**
 * A structural check of OTLP/JSON, from opentelemetry/proto/collector/metrics/v1/metrics_service.proto, metrics/v1/metrics.proto,
 * common/v1/common.proto and resource/v1/resource.proto, by protobuf's JSON mapping with OTLP's deviations
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 */

/** @typedef {(value: unknown, path: string) => string[]} Check what is wrong, one sentence each */
/** @typedef {{fields: Record<string, Check>, required?: string[], oneOf?: string[], must?: Check}} Message */

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_INT64 = 2n ** 63n - 1n;

/** @param {string} what @param {(value: unknown) => boolean} holds @returns {Check} */
const scalar = (what, holds) => (value, path) =>
  holds(value) ? [] : [`${path} is ${JSON.stringify(value)}, not ${what}`];

/** @param {unknown} value @param {bigint} lowest @param {bigint} highest */
const isInteger64 = (value, lowest, highest) =>
  typeof value === 'string' && /^-?\d+$/.test(value) && BigInt(value) >= lowest && BigInt(value) <= highest;

const string = scalar(
  'a string of UTF-8',
  (value) => typeof value === 'string' && Buffer.from(value).toString() === value,
);
const bool = scalar('a boolean', (value) => typeof value === 'boolean');
const double = scalar('a finite number', (value) => typeof value === 'number' && Number.isFinite(value));
const uint32 = scalar('an unsigned 32-bit integer', (value) => Number.isInteger(value) && Number(value) >= 0);
const fixed64 = scalar('an unsigned 64-bit integer as a string', (value) =>
  isInteger64(value, 0n, MAX_UINT64),
);
const sfixed64 = scalar('a 64-bit integer as a string', (value) =>
  isInteger64(value, -MAX_INT64 - 1n, MAX_INT64),
);

/** @param {number[]} values @returns {Check} */
const enumeration = (values) =>
  scalar(`one of ${values.join(', ')}`, (value) => values.includes(/** @type {number} */ (value)));

/** @param {Check} check @returns {Check} */
const repeated = (check) => (value, path) =>
  Array.isArray(value)
    ? value.flatMap((item, i) => check(item, `${path}[${i}]`))
    : [`${path} is ${JSON.stringify(value)}, not an array`];

/** @param {() => Message} describe so that messages may hold one another @returns {Check} */
const message = (describe) => (value, path) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return [`${path} is not an object`];
  const { fields, required = [], oneOf = [], must } = describe();
  const entries = Object.entries(value);
  const present = oneOf.filter((name) => Object.hasOwn(value, name));
  return [
    ...entries.flatMap(([name, field]) =>
      Object.hasOwn(fields, name) ? fields[name](field, `${path}.${name}`) : [`${path}.${name} is unknown`],
    ),
    ...required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${path}.${name} is missing`),
    ...(oneOf.length > 0 && present.length !== 1
      ? [`${path} has ${present.length} of ${oneOf.join(', ')}, not one`]
      : []),
    ...(must?.(value, path) ?? []),
  ];
};

/** @param {any} value @param {string} path @returns {string[]} keys of attributes must be unique */
const uniqueKeys = ({ attributes = [] }, path) => {
  const keys = attributes.map((/** @type {{key: string}} */ { key }) => key);
  return new Set(keys).size === keys.length ? [] : [`${path} has an attribute twice`];
};

/** @type {Check} */
const anyValue = message(() => ({
  fields: {
    stringValue: string,
    boolValue: bool,
    intValue: sfixed64,
    doubleValue: double,
    arrayValue: message(() => ({ fields: { values: repeated(anyValue) } })),
  },
  oneOf: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'],
}));
const keyValue = message(() => ({ fields: { key: string, value: anyValue }, required: ['key', 'value'] }));
const attributes = repeated(keyValue);

const times = { attributes, startTimeUnixNano: fixed64, timeUnixNano: fixed64, flags: uint32 };

const numberDataPoint = message(() => ({
  fields: { ...times, asInt: sfixed64, asDouble: double },
  required: ['timeUnixNano'],
  oneOf: ['asInt', 'asDouble'],
  must: uniqueKeys,
}));

const histogramDataPoint = message(() => ({
  fields: {
    ...times,
    count: fixed64,
    sum: double,
    min: double,
    max: double,
    bucketCounts: repeated(fixed64),
    explicitBounds: repeated(double),
  },
  required: ['timeUnixNano', 'count'],
  must: (value, path) => [...uniqueKeys(value, path), ...bucketFaults(value, path)],
}));

/** @param {any} point @param {string} path what the comments of HistogramDataPoint demand */
function bucketFaults({ count, bucketCounts = [], explicitBounds = [] }, path) {
  const sum = bucketCounts.reduce(
    (/** @type {bigint} */ all, /** @type {string} */ one) => all + BigInt(one),
    0n,
  );
  const ascending = explicitBounds.every((/** @type {number} */ bound, /** @type {number} */ i) =>
    i === 0 ? true : bound > explicitBounds[i - 1],
  );
  return [
    ...(bucketCounts.length > 0 && bucketCounts.length !== explicitBounds.length + 1
      ? [`${path} has ${bucketCounts.length} buckets for ${explicitBounds.length} bounds`]
      : []),
    ...(bucketCounts.length > 0 && sum !== BigInt(count)
      ? [`${path} has ${sum} in buckets, not ${count}`]
      : []),
    ...(ascending ? [] : [`${path}.explicitBounds do not ascend`]),
  ];
}

const temporality = enumeration([1, 2]);
const metric = message(() => ({
  fields: {
    name: scalar('a name', (value) => /^[a-z][\w.]*$/.test(String(value))),
    description: string,
    unit: string,
    metadata: attributes,
    gauge: message(() => ({ fields: { dataPoints: repeated(numberDataPoint) }, required: ['dataPoints'] })),
    sum: message(() => ({
      fields: {
        dataPoints: repeated(numberDataPoint),
        aggregationTemporality: temporality,
        isMonotonic: bool,
      },
      required: ['dataPoints', 'aggregationTemporality'],
    })),
    histogram: message(() => ({
      fields: { dataPoints: repeated(histogramDataPoint), aggregationTemporality: temporality },
      required: ['dataPoints', 'aggregationTemporality'],
    })),
  },
  required: ['name'],
  oneOf: ['gauge', 'sum', 'histogram'],
}));

const scopeMetrics = message(() => ({
  fields: {
    scope: message(() => ({
      fields: { name: string, version: string, attributes, droppedAttributesCount: uint32 },
      must: uniqueKeys,
    })),
    metrics: repeated(metric),
    schemaUrl: string,
  },
}));

const resourceMetrics = message(() => ({
  fields: {
    resource: message(() => ({ fields: { attributes, droppedAttributesCount: uint32 }, must: uniqueKeys })),
    scopeMetrics: repeated(scopeMetrics),
    schemaUrl: string,
  },
}));

const exportMetricsServiceRequest = message(() => ({
  fields: { resourceMetrics: repeated(resourceMetrics) },
  required: ['resourceMetrics'],
}));

/**
 * @param {unknown} value parsed JSON
 * @returns {string[]} what is wrong with it as an ExportMetricsServiceRequest
 */
export function otlpFaults(value) {
  return exportMetricsServiceRequest(value, 'request');
}
