// The OpenAI SDK for JavaScript.

import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { runCase, settings } from "./run_case.mjs";

const { baseURL, apiKey, model } = settings;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const messages = [{ role: "user", content: "Hello" }];
const Person = z.object({ name: z.string(), age: z.number().int() });

const toolThatReports = (report) => ({
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    parse: JSON.parse,
    function: () => report,
  },
});

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

runCase({
  async models() {
    const listed = await collect(await client.models.list());
    return { ids: listed.map((entry) => entry.id) };
  },

  async chat() {
    const answer = await client.chat.completions.create({ model, messages });
    return { text: answer.choices[0].message.content, finish: answer.choices[0].finish_reason };
  },

  async stream() {
    const chunks = await collect(
      await client.chat.completions.create({ model, messages, stream: true }),
    );
    // Without a question mark on purpose: this is how people read chunks.
    return { text: chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("") };
  },

  async streamHelper() {
    const stream = client.chat.completions.stream({ model, messages });
    const answer = await stream.finalChatCompletion();
    return { text: answer.choices[0].message.content };
  },

  async clientTool({ report, stream }) {
    const runner = client.chat.completions.runTools({
      model,
      messages,
      stream,
      tools: [toolThatReports(report)],
    });
    return { text: await runner.finalContent() };
  },

  async structured() {
    const answer = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(Person, "person"),
    });
    return { parsed: answer.choices[0].message.parsed };
  },

  async image({ picture }) {
    const content = [
      { type: "text", text: "Colour?" },
      { type: "image_url", image_url: { url: picture } },
    ];
    const answer = await client.chat.completions.create({
      model,
      messages: [{ role: "user", content }],
    });
    return { text: answer.choices[0].message.content };
  },

  async responses() {
    const response = await client.responses.create({ model, input: "Hello" });
    return { text: response.output_text, kinds: response.output.map((item) => item.type) };
  },

  async responsesStream() {
    const events = await collect(
      await client.responses.create({ model, input: "Hello", stream: true }),
    );
    const deltas = events.filter((event) => event.type === "response.output_text.delta");
    const last = events.at(-1);
    return {
      text: deltas.map((event) => event.delta).join(""),
      last: last.type,
      kinds: last.response.output.map((item) => item.type),
    };
  },

  async responsesHelper() {
    const response = await client.responses.stream({ model, input: "Hello" }).finalResponse();
    return { text: response.output_text };
  },

  async responsesTool({ report }) {
    const tools = [{ ...toolThatReports(report).function, type: "function", strict: true }];
    const asking = await client.responses.create({ model, input: "Hello", tools });
    const call = asking.output[0];
    const answer = await client.responses.create({
      model,
      tools,
      previous_response_id: asking.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: report }],
    });
    return { text: answer.output_text, arguments: JSON.parse(call.arguments) };
  },

  async responsesStructured() {
    const response = await client.responses.parse({
      model,
      input: "Who?",
      text: { format: zodTextFormat(Person, "person") },
    });
    return { parsed: response.output_parsed };
  },

  async chain() {
    const first = await client.responses.create({ model, input: "My colour is blue." });
    const second = await client.responses.create({
      model,
      input: "Which?",
      previous_response_id: first.id,
    });
    return { text: second.output_text };
  },

  async stored() {
    const made = await client.responses.create({ model, input: "Hello" });
    const found = await client.responses.retrieve(made.id);
    await client.responses.delete(made.id);
    const gone = await client.responses.retrieve(made.id).catch((error) => error);
    return { text: found.output_text, gone: gone.constructor.name };
  },

  async approval() {
    const asked = [{ role: "user", content: "Clean up" }];
    const question = await client.chat.completions.create({ model, messages: asked });
    asked.push(question.choices[0].message, { role: "user", content: "Yes" });
    const answer = await client.chat.completions.create({ model, messages: asked });
    return {
      question: question.choices[0].message.content,
      text: answer.choices[0].message.content,
    };
  },

  async responsesApproval() {
    const question = await client.responses.create({ model, input: "Clean up" });
    const answer = await client.responses.create({
      model,
      input: "yes",
      previous_response_id: question.id,
    });
    return { question: question.output_text, text: answer.output_text };
  },

  async resume() {
    const seen = [];
    const stream = await client.responses.create({
      model,
      input: "A story",
      background: true,
      stream: true,
    });
    for await (const event of stream) {
      seen.push(event);
      if (event.type === "response.output_text.delta") break;
    }
    const rest = await client.responses.retrieve(seen[0].response.id, {
      stream: true,
      starting_after: seen.at(-1).sequence_number,
    });
    seen.push(...(await collect(rest)));
    const deltas = seen.filter((event) => event.type === "response.output_text.delta");
    return {
      numbers: seen.map((event) => event.sequence_number),
      text: deltas.map((event) => event.delta).join(""),
      last: seen.at(-1).type,
    };
  },

  async wrongKey() {
    await new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list();
  },

  async noSuchModel() {
    await client.models.retrieve("no-such-model");
  },

  async badRequest() {
    await client.chat.completions.create({ model, messages, n: 2 });
  },

  async leaving() {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0].delta.content) break;
    }
    return { left: true };
  },
});
