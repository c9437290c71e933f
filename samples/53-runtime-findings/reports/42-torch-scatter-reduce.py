import torch
data = torch.tensor([2.0], dtype=torch.float64)
indices = torch.tensor([0], dtype=torch.int64)
updates = torch.tensor([2.0], dtype=torch.float64)
cotangent = torch.tensor([1.0], dtype=torch.float64)
print('expected:', '[2.0] float64; gradient of input [0.0] float64; gradient of src [1.0] float64', flush=True)
def call(data, indices, updates):
    return torch.scatter_reduce(input=data, index=indices, src=updates, dim=0, reduce='amax', include_self=False)
leaves = [array.requires_grad_() for array in (data, updates,)]
output = call(data, indices, updates)
gradients = torch.autograd.grad(output, leaves, cotangent, allow_unused=True)
print("seen:    ", output)
print("gradients of data, updates:", *gradients)
