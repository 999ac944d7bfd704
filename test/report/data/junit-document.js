/** JUnit reports, read and checked against a schema by libxml2. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { XmlDocument, XmlElement, XsdValidator } from 'libxml2-wasm';

/** @typedef {{kind: string, type: string | undefined, message: string | undefined, text: string}} Problem */
/** @typedef {{name: string, classname: string | undefined, problems: Problem[], output: string}} Case */
/** @typedef {{name: string, attributes: Record<string, string>, cases: Case[], output: string}} Suite */

const XSD = XmlDocument.fromString(readFileSync(new URL('./fixtures/junit.xsd', import.meta.url), 'utf8'));
const validator = XsdValidator.fromDoc(XSD);

/**
 * @param {string} xml
 * @returns {{attributes: Record<string, string>, suites: Suite[]}} as the schema has it, its sums right
 * @throws what libxml2 has against it
 */
export function readJunit(xml) {
  const document = XmlDocument.fromString(xml);
  try {
    validator.validate(document);
    const attributes = attributesOf(document.root);
    const suites = childrenOf(document.root, 'testsuite').map(suiteOf);
    checkSums(
      attributes,
      suites.flatMap(({ cases }) => cases),
    );
    for (const suite of suites) checkSums(suite.attributes, suite.cases);
    return { attributes, suites };
  } finally {
    document.dispose();
  }
}

/** @param {XmlElement} suite @returns {Suite} */
function suiteOf(suite) {
  const attributes = attributesOf(suite);
  return {
    name: attributes.name,
    attributes,
    cases: childrenOf(suite, 'testcase').map(caseOf),
    output: outputOf(suite),
  };
}

/** @param {XmlElement} one @returns {Case} */
function caseOf(one) {
  const { name, classname } = attributesOf(one);
  const problems = ['failure', 'error'].flatMap((kind) =>
    childrenOf(one, kind).map((problem) => {
      const { type, message } = attributesOf(problem);
      return { kind, type, message, text: problem.content };
    }),
  );
  return { name, classname, problems, output: outputOf(one) };
}

/** @param {XmlElement} element @param {string} name @returns {XmlElement[]} */
function childrenOf(element, name) {
  return element.find(name).filter((node) => node instanceof XmlElement);
}

/** @param {XmlElement} element @returns {Record<string, string>} */
function attributesOf(element) {
  return Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]));
}

/** @param {XmlElement} element */
function outputOf(element) {
  return childrenOf(element, 'system-out')
    .map(({ content }) => content)
    .join('');
}

/** @param {Record<string, string>} attributes @param {Case[]} cases */
function checkSums({ tests, failures, errors }, cases) {
  const count = (/** @type {string} */ kind) =>
    cases.filter(({ problems }) => problems.some((problem) => problem.kind === kind)).length;
  assert.deepEqual([tests, failures, errors], [cases.length, count('failure'), count('error')].map(String));
}
